import type { Clock } from '../platform/clock.ts';
import { type Loop, startLoop } from '../platform/jobs/loop.ts';
import type { Log } from '../platform/log.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import type { EventStores } from './store.ts';

const INTERVAL_MS = 600_000;
/** Small, so that other writers do not wait for a batch. */
const BATCH = 500;
const PAUSE_MS = 50;

export type PurgeDeps = {
  readonly store: UnitOfWork<EventStores>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long ended records are kept. */
  readonly retention: {
    readonly eventsMs: number;
    readonly deliveriesMs: number;
    readonly sessionsMs: number;
  };
  /** Purges of other capabilities. The log names them by their keys. */
  readonly purgeOthers?: Readonly<Record<string, Purge>>;
};

/** Deletes at most `limit` records whose retention has ended, and returns their number. */
export type Purge = (limit: number, signal: AbortSignal) => Promise<number>;

/** Deletes records whose retention has ended, in small batches, and logs their number. Any instance may do it. */
export function startPurge(deps: PurgeDeps): Pick<Loop, 'close'> {
  const { clock, log } = deps;
  return startLoop({
    clock,
    log,
    failureMessage: 'deleting expired data failed; trying again',
    round: async (signal) => {
      const deleted = new Map<string, number>();
      try {
        await purgeAll(deps, signal, (name, count) => deleted.set(name, (deleted.get(name) ?? 0) + count));
      } finally {
        if (deleted.size > 0) log.info(Object.fromEntries(deleted), 'deleted expired data');
      }
      return INTERVAL_MS;
    },
  });
}

async function purgeAll(
  { store, clock, retention, purgeOthers = {} }: PurgeDeps,
  signal: AbortSignal,
  onDeleted: (name: string, count: number) => void,
): Promise<void> {
  const deliveriesBefore = clock.now() - retention.deliveriesMs;
  const eventsBefore = clock.now() - retention.eventsMs;
  const sessionsBefore = clock.now() - retention.sessionsMs;
  const purges: Readonly<Record<string, Purge>> = {
    deliveries: (limit) => store.deliveries.purge(deliveriesBefore, limit),
    events: (limit) => store.events.purge(eventsBefore, limit),
    tracks: (limit) => store.presence.purgeTracks(eventsBefore, limit),
    sessions: (limit) => store.presence.purge(sessionsBefore, limit),
    ...purgeOthers,
  };
  for (const [name, purge] of Object.entries(purges)) {
    while (!signal.aborted) {
      const count = await purge(BATCH, signal);
      if (count === 0) break;
      onDeleted(name, count);
      await clock.sleep(PAUSE_MS, signal);
    }
  }
}
