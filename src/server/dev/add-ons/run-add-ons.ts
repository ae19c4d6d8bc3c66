import { join } from 'node:path';
import { DEV_ADD_ONS, type DevAddOn, type WorkerKind } from '../../../contract/choices.ts';
import { readHint, readReason } from '../../../contract/hint.ts';
import type { AbsentAddOn } from '../../../contract/launcher.ts';
import type { Environment } from '../../app/config/environment.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type Restartable,
  type RunningChild,
  restartWhenEnded,
  waitForReady,
} from '../binaries/child-process.ts';
import type { ProcessSupervisor } from '../process-supervisor.ts';

type AddOnsSettings = {
  readonly addOns: readonly AddOn[];
  /** Required add-ons: an error of one of them ends the development server. */
  readonly required: readonly DevAddOn[];
  readonly clock: Clock;
  readonly progress: (line: string) => void;
};

type RunningAddOns = {
  /**
   * Waits until all add-ons are ready or have ended. Throws the error of a required one that is not ready, and returns the
   * others that are not.
   */
  readonly waitForReady: (serviceUrl: string) => Promise<readonly AbsentAddOn[]>;
  /** From this call on, reports and restarts an add-on that ends. The service continues without it. */
  readonly superviseRestarts: () => void;
  readonly close: () => Promise<void>;
};

type Running = Restartable & { readonly addOn: AddOn };

/** Starts each add-on as its own process, as in a deployment. */
export function startAddOns({ addOns, required, clock, progress }: AddOnsSettings): RunningAddOns {
  const closing = new AbortController();
  let running: readonly Running[] = addOns.map((addOn) => ({
    addOn,
    child: addOn.start('truncate'),
    restart: () => addOn.start('append'),
  }));
  return {
    waitForReady: async (serviceUrl) => {
      const ends = await Promise.all(running.map((one) => waitForOne(one, serviceUrl)));
      for (const end of ends) if (end.error !== undefined && required.includes(end.name)) throw end.error;
      running = running.filter((_, index) => ends[index]?.error === undefined);
      for (const { addOn } of running) progress(`${addOn.name} works; its log: ${addOn.logFile}`);
      return listAbsent(ends);
    },
    superviseRestarts: () => {
      for (const one of running) void restartWhenEnded(one, { clock, progress, closing: closing.signal });
    },
    close: async () => {
      closing.abort();
      await Promise.all(running.map(({ child }) => child.close()));
    },
  };
}

type Readiness = { readonly name: DevAddOn; readonly error?: Error };

/** An add-on is absent if none of its processes works. */
function listAbsent(ends: readonly Readiness[]): readonly AbsentAddOn[] {
  const working = new Set(ends.flatMap(({ name, error }) => (error === undefined ? [name] : [])));
  const absent = ends.flatMap(({ name, error }) =>
    error === undefined || working.has(name) ? [] : [absentBecause(name, error)],
  );
  return [...new Map(absent.map((one) => [one.name, one])).values()];
}

async function waitForOne({ addOn, child }: Running, serviceUrl: string): Promise<Readiness> {
  const { name } = addOn;
  try {
    await waitForReady(child, () => addOn.isReady(serviceUrl));
    return { name };
  } catch (error) {
    if (error instanceof Error) return { name, error };
    throw error;
  }
}

export type AddOnChoice = {
  /** Required add-ons: when one of them is missing nothing is started. */
  readonly required: readonly DevAddOn[];
  readonly unwanted: readonly DevAddOn[];
  /** Whether the other add-ons are started too, if possible. */
  readonly areOthersTried: boolean;
};

/** Finds the processes of an add-on. Rejects with what is missing and what to do. */
type FindAddOn = (name: DevAddOn) => Promise<readonly AddOn[]>;

export type ChosenAddOns = { readonly addOns: readonly AddOn[]; readonly absent: readonly AbsentAddOn[] };

/** Selects the add-ons to start, and those that cannot be started. Rejects when a required one cannot be started. */
export async function chooseAddOns(choice: AddOnChoice, find: FindAddOn): Promise<ChosenAddOns> {
  const { required, unwanted, areOthersTried } = choice;
  const addOns: AddOn[] = [];
  const absent: AbsentAddOn[] = [];
  for (const name of DEV_ADD_ONS) {
    const isRequired = required.includes(name);
    if (!isRequired && (unwanted.includes(name) || !areOthersTried)) continue;
    try {
      addOns.push(...(await find(name)));
    } catch (error) {
      if (isRequired || !(error instanceof Error)) throw error;
      absent.push(absentBecause(name, error));
    }
  }
  return { addOns, absent };
}

/** Describes an add-on that cannot run because of this error. */
function absentBecause(name: DevAddOn, error: Error): AbsentAddOn {
  return { name, reason: readReason(error), hint: readHint(error) };
}

type SpeechWorkerSettings = {
  readonly supervisor: Pick<ProcessSupervisor, 'start'>;
  /** The service's environment, because the workers share its database and its recordings. */
  readonly environment: Environment;
  readonly dataDir: string;
  /** Path of bin/rtc.js. */
  readonly launcher: string;
};

/** Returns the add-on for `rtc worker stt-live` or `rtc worker stt-post`. */
export function speechWorker(kind: WorkerKind, settings: SpeechWorkerSettings): AddOn {
  const { supervisor, environment, dataDir, launcher } = settings;
  const logFile = join(dataDir, `${kind}.log`);
  const given = Object.entries(environment).filter(
    // Leaves out the METRICS settings, because the service uses that port.
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('METRICS'),
  );
  return {
    name: kind,
    logFile,
    start: (logMode) =>
      supervisor.start({
        // The process sets its title to this name, so that a later run can recognise an orphan.
        name: kind,
        program: process.execPath,
        // With --json the last line of its log has the error as data.
        args: [launcher, 'worker', kind, '--json'],
        // glibc keeps the memory of calls that have ended unless it has few arenas.
        env: { MALLOC_ARENA_MAX: '2', ...Object.fromEntries(given) },
        logFile,
        logMode,
      }),
    isReady: (serviceUrl) => isReported(kind, serviceUrl),
  };
}

const CAPABILITIES = { 'stt-live': 'transcriptionLive', 'stt-post': 'transcriptionPost' } as const;

type Health = { readonly capabilities: Readonly<Record<string, boolean>> };

async function isReported(kind: WorkerKind, serviceUrl: string): Promise<boolean> {
  const health = (await (await fetch(`${serviceUrl}/v1/health`)).json()) as Health;
  return health.capabilities[CAPABILITIES[kind]] === true;
}

/** A process beside the service, which a part of the API needs. Several may have one name. */
export type AddOn = {
  readonly name: DevAddOn;
  readonly logFile: string;
  readonly start: (logMode: 'truncate' | 'append') => RunningChild;
  /** Returns whether the service finds the add-on ready for work. */
  readonly isReady: (serviceUrl: string) => Promise<boolean>;
};
