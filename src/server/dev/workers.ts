import { join } from 'node:path';
import type { Environment } from '../app/config/config.ts';
import type { Clock } from '../platform/clock.ts';
import type { WorkerKind } from '../transcription/store.ts';
import type { RunningChild } from './binaries/child-process.ts';
import type { Household } from './process-supervisor.ts';
import { untilAnswering } from './wait-for-ready.ts';

export type DevWorkersSettings = {
  readonly kinds: readonly WorkerKind[];
  readonly household: Pick<Household, 'start'>;
  /** What the service runs on: the workers share its database and its recordings. */
  readonly environment: Environment;
  readonly dataDir: string;
  /** bin/rtc.js */
  readonly launcher: string;
  readonly clock: Clock;
  readonly progress: (line: string) => void;
};

export type DevWorkers = {
  /** Until the service sees them; throws with a worker's last words when it ends first. */
  readonly untilWorking: (serviceUrl: string) => Promise<void>;
  /** From now on one that ends is told of and started again: the call goes on without it. */
  readonly keep: () => void;
  readonly close: () => Promise<void>;
};

/** Each add-on as a process of its own, as in a deployment: `rtc worker <kind>`. */
export function startDevWorkers(settings: DevWorkersSettings): DevWorkers {
  const { kinds, dataDir, progress } = settings;
  const closing = new AbortController();
  const workers = kinds.map((kind) => ({ kind, child: startWorker(settings, kind, 'anew') }));
  return {
    untilWorking: async (serviceUrl) => {
      for (const { kind, child } of workers) {
        await untilAnswering(child, () => isSeen(kind, serviceUrl));
        progress(`${kind} works; its log: ${workerLog(dataDir, kind)}`);
      }
    },
    keep: () => {
      for (const worker of workers) void keepWorker(settings, worker, closing.signal);
    },
    close: async () => {
      closing.abort();
      await Promise.all(workers.map(({ child }) => child.close()));
    },
  };
}

/** One that cannot start fails again and again: the pauses grow. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

async function keepWorker(
  settings: DevWorkersSettings,
  worker: { readonly kind: WorkerKind; child: RunningChild },
  closing: AbortSignal,
): Promise<void> {
  const { clock, progress } = settings;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const startedAt = clock.now();
    const end = await worker.child.ended;
    if (clock.now() - startedAt > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
    if (!closing.aborted) progress(`${end}; it is started again in ${pauseMs / 1000} s`);
    await clock.sleep(pauseMs, closing).catch(() => {});
    if (closing.aborted) return;
    worker.child = startWorker(settings, worker.kind, 'append');
  }
}

function startWorker(
  { household, environment, dataDir, launcher }: DevWorkersSettings,
  kind: WorkerKind,
  logMode: 'anew' | 'append',
): RunningChild {
  const given = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return household.start({
    // Its process calls itself so: a later run finds what was left behind by this name.
    name: kind,
    program: process.execPath,
    args: [launcher, 'worker', kind],
    env: Object.fromEntries(given),
    logFile: workerLog(dataDir, kind),
    logMode,
  });
}

function workerLog(dataDir: string, kind: WorkerKind): string {
  return join(dataDir, `${kind}.log`);
}

const CAPABILITIES = { 'stt-live': 'transcriptionLive', 'stt-post': 'transcriptionPost' } as const;

type Health = { readonly capabilities: Readonly<Record<string, boolean>> };

async function isSeen(kind: WorkerKind, serviceUrl: string): Promise<boolean> {
  const health = (await (await fetch(`${serviceUrl}/v1/health`)).json()) as Health;
  return health.capabilities[CAPABILITIES[kind]] === true;
}
