import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { TranscriptionStores, WorkerKind } from './store.ts';

const EVERY_MS = 3_000;
/** A worker that missed two beats counts as dead. */
const ALIVE_MS = 10_000;

export type HeartbeatDeps = {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly kind: WorkerKind;
  readonly workerId: string;
  readonly languages: readonly string[];
};

/** Stores regularly that the worker is alive, until it is closed. Rejects when the first beat cannot be stored. */
export async function startHeartbeat(deps: HeartbeatDeps): Promise<{ readonly close: () => Promise<void> }> {
  const closing = new AbortController();
  await beat(deps);
  const loop = run(deps, closing.signal);
  return {
    close: async () => {
      closing.abort();
      await loop;
      await deps.store.transcriptions.retire(deps.workerId);
    },
  };
}

async function run(deps: HeartbeatDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    await deps.clock.sleep(EVERY_MS, signal).catch(() => {});
    if (signal.aborted) return;
    await beat(deps).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'storing the heartbeat failed; trying again');
    });
  }
}

async function beat({ store, clock, kind, workerId, languages }: HeartbeatDeps): Promise<void> {
  await store.transcriptions.beat({ kind, workerId, languages, aliveUntil: clock.now() + ALIVE_MS });
}
