import type { Clock } from '../platform/clock.ts';
import { type Loop, startLoop } from '../platform/jobs/loop.ts';
import type { Log } from '../platform/log.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import type { EventStores } from './store.ts';

const INTERVAL_MS = 600_000;
/** Small, so that nobody waits for it. */
const BATCH = 500;
const PAUSE_MS = 50;

export type PurgeDeps = {
  readonly store: UnitOfWork<EventStores>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long ended things are kept. */
  readonly retention: {
    readonly eventsMs: number;
    readonly deliveriesMs: number;
    readonly sessionsMs: number;
  };
  /** Purges of other capabilities: each deletes at most `limit` rows, and returns how many it deleted. */
  readonly purgeOthers?: readonly ((limit: number) => Promise<number>)[];
};

/** Deletes what is older than its retention, in small batches. Every instance may do it; none has to. */
export function startPurge(deps: PurgeDeps): Pick<Loop, 'close'> {
  const { clock, log } = deps;
  return startLoop({
    clock,
    log,
    failureMessage: 'deleting what is past its retention failed; trying again',
    round: async (signal) => {
      await purgeAll(deps, signal);
      return INTERVAL_MS;
    },
  });
}

async function purgeAll(
  { store, clock, retention, purgeOthers = [] }: PurgeDeps,
  signal: AbortSignal,
): Promise<void> {
  const deliveriesBefore = clock.now() - retention.deliveriesMs;
  const eventsBefore = clock.now() - retention.eventsMs;
  const sessionsBefore = clock.now() - retention.sessionsMs;
  await inBatches(clock, signal, () => store.deliveries.purge(deliveriesBefore, BATCH));
  await inBatches(clock, signal, () => store.events.purge(eventsBefore, BATCH));
  await inBatches(clock, signal, () => store.presence.purgeTracks(eventsBefore, BATCH));
  await inBatches(clock, signal, () => store.presence.purge(sessionsBefore, BATCH));
  for (const purge of purgeOthers) await inBatches(clock, signal, () => purge(BATCH));
}

async function inBatches(clock: Clock, signal: AbortSignal, purge: () => Promise<number>): Promise<void> {
  while (!signal.aborted && (await purge()) > 0) await clock.sleep(PAUSE_MS, signal);
}
