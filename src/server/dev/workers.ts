import { join } from 'node:path';
import { type RunningChild, startChild } from '../adapters/media-binary/child-process.ts';
import type { Environment } from '../config/config.ts';
import type { WorkerKind } from '../ports/transcription-store.ts';
import { untilAnswering } from './until-answering.ts';

export type DevWorkersSettings = {
  readonly kinds: readonly WorkerKind[];
  /** What the service runs on: the workers share its database and its recordings. */
  readonly environment: Environment;
  readonly dataDir: string;
  /** bin/rtc.js */
  readonly launcher: string;
};

/** Each add-on as a process of its own, as in a deployment: `rtc worker <kind>`. */
export function startDevWorkers(settings: DevWorkersSettings): readonly RunningChild[] {
  const { kinds, environment, dataDir, launcher } = settings;
  const given = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return kinds.map((kind) =>
    startChild({
      // Its process calls itself so: a later run finds what was left behind by this name.
      name: kind,
      program: process.execPath,
      args: [launcher, 'worker', kind],
      env: Object.fromEntries(given),
      logFile: workerLog(dataDir, kind),
    }),
  );
}

export function workerLog(dataDir: string, kind: WorkerKind): string {
  return join(dataDir, `${kind}.log`);
}

const CAPABILITIES = { 'stt-live': 'transcriptionLive', 'stt-post': 'transcriptionPost' } as const;

/** Until the service sees them; throws with a worker's last words when it ends first. */
export async function untilWorking(workers: readonly RunningChild[], serviceUrl: string): Promise<void> {
  for (const worker of workers) {
    await untilAnswering(worker, async () => {
      const health = (await (await fetch(`${serviceUrl}/v1/health`)).json()) as Health;
      return health.capabilities[CAPABILITIES[worker.name as WorkerKind]] === true;
    });
  }
}

type Health = { readonly capabilities: Readonly<Record<string, boolean>> };
