import type { ExperimentContext } from '../experiment.ts';
import { type Figure, named } from '../figures.ts';

/** What a process is doing when it is killed. */
export type KillState = {
  /** Begins the names of its figures. */
  readonly name: string;
  readonly slug: string;
};

/** What became of a kill. */
export type AfterKill = {
  readonly figures: readonly Figure[];
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
): Promise<readonly Figure[]> {
  const chosen = states.filter(
    ({ slug }) => runSize === 'long' || ofShort === undefined || ofShort.includes(slug),
  );
  const killOne = async (state: State): Promise<readonly Figure[]> => {
    const { figures, lines } = await kill(state);
    for (const line of lines) report(`${state.name}: ${line}`);
    return named(state.name, figures);
  };
  if (areTogether) return (await Promise.all(chosen.map(killOne))).flat();
  const figures: Figure[] = [];
  for (const state of chosen) figures.push(...(await killOne(state)));
  return figures;
}
