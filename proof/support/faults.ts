import { setTimeout as delay } from 'node:timers/promises';
import type { ExperimentContext } from '../experiment.ts';
import { type Figure, type Figures, named } from '../figures.ts';

/** A fault of something that the service needs. */
export type InjectedFault = {
  readonly name: string;
  readonly seconds: number;
  /** Begins the fault. The returned function ends it. */
  readonly begin: () => Promise<() => unknown>;
  /** The name of the time after it. */
  readonly after: string;
};

/** A stage of the run: before the faults, during one of them, or after it. */
export type FaultStage<Seen, Fault> = {
  readonly name: string;
  readonly seen: Seen;
  /** In the stage of a fault: the fault, and the milliseconds from its end until the service worked again. */
  readonly injected?: { readonly fault: Fault; readonly recoveredMs: number };
};

type Injection<Seen, Fault> = {
  readonly faults: readonly Fault[];
  /** Calls the service for so long. */
  readonly call: (name: string, seconds: number) => Promise<Seen>;
  readonly isWorking: () => Promise<boolean>;
};

const CALM_SECONDS = { long: 5, short: 1 } as const;
const LOOK_MS = 50;

/** Calls the service before the faults, and through each fault and the time after it. */
export async function injectFaults<Seen, Fault extends InjectedFault>(
  { runSize, report }: Pick<ExperimentContext, 'runSize' | 'report'>,
  { faults, call, isWorking }: Injection<Seen, Fault>,
): Promise<readonly FaultStage<Seen, Fault>[]> {
  const during = async (name: string, seconds: number = CALM_SECONDS[runSize]) => {
    report(name);
    return { name, seen: await call(name, seconds) };
  };
  const stages: FaultStage<Seen, Fault>[] = [await during('before the faults')];
  for (const fault of faults) {
    const end = await fault.begin();
    const stage = await during(fault.name, fault.seconds);
    await end();
    stages.push({ ...stage, injected: { fault, recoveredMs: await untilWorking(isWorking) } });
    stages.push(await during(fault.after));
  }
  return stages;
}

/** Resolves to the milliseconds until the service works again. */
export async function untilWorking(isWorking: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  while (!(await isWorking())) await delay(LOOK_MS);
  return Math.round(performance.now() - startedAt);
}

/** The work of a process when it is killed. */
export type KillState = {
  /** Begins the names of its figures. */
  readonly name: string;
  readonly slug: string;
};

/** The outcome of a kill. */
export type AfterKill = {
  readonly figures: Figures;
  /** For the person who watches the run. */
  readonly lines: readonly string[];
};

type Kills<State extends KillState> = {
  readonly states: readonly State[];
  /** The states of the short run, by their slugs; all if absent. */
  readonly ofShort?: readonly string[];
  /** Whether all kills happen at the same time; by default one follows the other. */
  readonly areTogether?: true;
  readonly kill: (state: State) => Promise<AfterKill>;
};

/** Kills a process in every state of the table, and returns the figures of each state with its name. */
export async function killInEveryState<State extends KillState>(
  { runSize, report }: Pick<ExperimentContext, 'runSize' | 'report'>,
  { states, ofShort, areTogether, kill }: Kills<State>,
): Promise<Figures> {
  const chosen = states.filter(
    ({ slug }) => runSize === 'long' || ofShort === undefined || ofShort.includes(slug),
  );
  const killOne = async (state: State): Promise<Figures> => {
    const { figures, lines } = await kill(state);
    for (const line of lines) report(`${state.name}: ${line}`);
    return named(state.name, figures);
  };
  if (areTogether) return (await Promise.all(chosen.map(killOne))).flat();
  const figures: Figure[] = [];
  for (const state of chosen) figures.push(...(await killOne(state)));
  return figures;
}
