import type { Clock } from '../platform/clock.ts';
import { startLoop } from '../platform/jobs/loop.ts';
import type { Log } from '../platform/log.ts';
import type { FailedModel, TranscriptionStores, WorkerKind } from './store.ts';

const EVERY_MS = 3_000;
/** A worker that missed two beats counts as dead. */
const ALIVE_MS = 10_000;

export type HeartbeatDeps = {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly kind: WorkerKind;
  readonly workerId: string;
  readonly languages: () => readonly string[];
  readonly failedModels: () => readonly FailedModel[];
};

export type Heartbeat = {
  /** Stores the current languages now. */
  readonly wake: () => void;
  /** Whether the last heartbeat was stored in time. */
  readonly isCurrent: () => boolean;
  readonly close: () => Promise<void>;
};

/** Stores regularly that the worker is alive, until it is closed. Rejects when the first beat cannot be stored. */
export async function startHeartbeat(deps: HeartbeatDeps): Promise<Heartbeat> {
  const { clock, log } = deps;
  await beat(deps);
  let beatAt = clock.monotonic();
  let isFirst = true;
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'storing the heartbeat failed; trying again',
    backoff: { firstMs: EVERY_MS, maxMs: EVERY_MS },
    round: async () => {
      if (!isFirst) {
        const startedAt = clock.monotonic();
        await beat(deps);
        beatAt = startedAt;
      }
      isFirst = false;
      return EVERY_MS;
    },
  });
  return {
    wake: loop.wake,
    isCurrent: () => clock.monotonic() - beatAt < ALIVE_MS,
    close: async () => {
      await loop.close();
      await deps.store.transcriptions.retire(deps.workerId);
    },
  };
}

async function beat({ store, clock, kind, workerId, languages, failedModels }: HeartbeatDeps): Promise<void> {
  await store.transcriptions.beat({
    ...{ kind, workerId, aliveUntil: clock.now() + ALIVE_MS },
    ...{ languages: languages(), failedModels: failedModels() },
  });
}
