import { join } from 'node:path';
import type { Environment } from '../app/config/config.ts';
import type { Clock } from '../platform/clock.ts';
import type { WorkerKind } from '../transcription/store.ts';
import type { RunningChild } from './binaries/child-process.ts';
import type { ProcessSupervisor } from './process-supervisor.ts';
import { waitForReady } from './wait-for-ready.ts';

export type DevWorkersSettings = {
  readonly kinds: readonly WorkerKind[];
  readonly supervisor: Pick<ProcessSupervisor, 'start'>;
  /** The service's environment: the workers share its database and its recordings. */
  readonly environment: Environment;
  readonly dataDir: string;
  /** Path of bin/rtc.js. */
  readonly launcher: string;
  readonly clock: Clock;
  readonly progress: (line: string) => void;
};

export type DevWorkers = {
  /** Waits until the service reports all workers as alive. Throws with a worker's last log line when it ends first. */
  readonly waitForReady: (serviceUrl: string) => Promise<void>;
  /** From now on, reports and restarts a worker that ends. Calls continue without it. */
  readonly superviseRestarts: () => void;
  readonly close: () => Promise<void>;
};

/** Starts each add-on as its own process, as in a deployment: `rtc worker <kind>`. */
export function startDevWorkers(settings: DevWorkersSettings): DevWorkers {
  const { kinds, dataDir, progress } = settings;
  const closing = new AbortController();
  const workers = kinds.map((kind) => ({ kind, child: startWorker(settings, kind, 'truncate') }));
  return {
    waitForReady: async (serviceUrl) => {
      for (const { kind, child } of workers) {
        await waitForReady(child, () => isReported(kind, serviceUrl));
        progress(`${kind} works; its log: ${workerLog(dataDir, kind)}`);
      }
    },
    superviseRestarts: () => {
      for (const worker of workers) void restartWhenEnded(settings, worker, closing.signal);
    },
    close: async () => {
      closing.abort();
      await Promise.all(workers.map(({ child }) => child.close()));
    },
  };
}

/** The pause doubles, because a worker that cannot start fails again each time. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

async function restartWhenEnded(
  settings: DevWorkersSettings,
  worker: { readonly kind: WorkerKind; child: RunningChild },
  closing: AbortSignal,
): Promise<void> {
  const { clock, progress } = settings;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const startedAt = clock.now();
    const { reason } = await worker.child.ended;
    if (clock.now() - startedAt > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
    if (!closing.aborted) progress(`${reason}; it is started again in ${pauseMs / 1000} s`);
    await clock.sleep(pauseMs, closing).catch(() => {});
    if (closing.aborted) return;
    worker.child = startWorker(settings, worker.kind, 'append');
  }
}

function startWorker(
  { supervisor, environment, dataDir, launcher }: DevWorkersSettings,
  kind: WorkerKind,
  logMode: 'truncate' | 'append',
): RunningChild {
  const given = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return supervisor.start({
    // The process sets its title to this name, by which a later run recognises an orphan.
    name: kind,
    program: process.execPath,
    // With --json its error is data in the last line of its log.
    args: [launcher, 'worker', kind, '--json'],
    // glibc keeps the memory of calls that have ended unless it has few arenas.
    env: { MALLOC_ARENA_MAX: '2', ...Object.fromEntries(given) },
    logFile: workerLog(dataDir, kind),
    logMode,
  });
}

function workerLog(dataDir: string, kind: WorkerKind): string {
  return join(dataDir, `${kind}.log`);
}

const CAPABILITIES = { 'stt-live': 'transcriptionLive', 'stt-post': 'transcriptionPost' } as const;

type Health = { readonly capabilities: Readonly<Record<string, boolean>> };

async function isReported(kind: WorkerKind, serviceUrl: string): Promise<boolean> {
  const health = (await (await fetch(`${serviceUrl}/v1/health`)).json()) as Health;
  return health.capabilities[CAPABILITIES[kind]] === true;
}
