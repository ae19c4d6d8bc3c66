import type { Clock } from '../platform/clock.ts';
import { startLoop } from '../platform/jobs/loop.ts';
import type { Log } from '../platform/log.ts';
import { RESETTLED_MS, type UsageStores } from './store.ts';

export type SettlerDeps = {
  /** Its clock is the one that due times are compared with; the other one only measures pauses. */
  readonly store: UsageStores & { readonly clock: Pick<Clock, 'now'> };
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  readonly log: Pick<Log, 'warn'>;
};

type ObserveEvents = (events: readonly { readonly type: string; readonly isReconciled: boolean }[]) => void;

export type UsageSettler = {
  /** Returns an observer of stored events, which passes them on: the usage of a room is complete soon after its end. */
  readonly observing: (next: ObserveEvents | undefined) => ObserveEvents;
  /**
   * Brings the usage of open rooms up to date, and returns until when their time is included. What would take too long is
   * left to the background.
   */
  readonly refresh: () => Promise<number>;
  readonly close: () => Promise<void>;
};

/** Sessions of one transaction. */
const BATCH = 50;
/** Sessions that a reader waits for. */
const MOST_REFRESHED = 500;
/** Readers get figures that are at most this old, unless very many rooms are open. */
const FRESH_MS = 10_000;
/** Rooms that end within this time share a transaction. Readers do not wait for it. */
const GATHERED_MS = 1_000;
/** Pause before sessions are tried again that other transactions were working on. */
const BUSY_MS = 1_000;

/** Computes the usage of room sessions, whichever instance recorded their events. */
export function startUsageSettler({ store, clock, log }: SettlerDeps): UsageSettler {
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'computing the usage of rooms failed; trying again',
    round: async (signal) => {
      const now = store.clock.now();
      while (!signal.aborted && (await store.usage.settle({ now, dueBy: now, limit: BATCH })) === BATCH);
      const next = await store.usage.findNextDue();
      // Other instances open rooms, and do not wake this one.
      if (next === undefined) return RESETTLED_MS;
      return Math.min(RESETTLED_MS, Math.max(BUSY_MS, next - store.clock.now()));
    },
  });
  let refreshing: Promise<number> | undefined;
  return {
    observing: (next) => (events) => {
      next?.(events);
      if (events.some(({ type }) => type === 'room_finished')) loop.wakeWithin(GATHERED_MS);
    },
    refresh: () => {
      refreshing ??= refreshOpen(store).finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },
    close: loop.close,
  };
}

/** A session is due again RESETTLED_MS after it was settled, so its due time says when that was. */
async function refreshOpen(store: SettlerDeps['store']): Promise<number> {
  const now = store.clock.now();
  const dueBy = now + RESETTLED_MS - FRESH_MS;
  for (let done = 0; done < MOST_REFRESHED; done += BATCH) {
    if ((await store.usage.settle({ now, dueBy, limit: BATCH })) < BATCH) break;
  }
  const next = await store.usage.findNextDue();
  return next === undefined ? now : Math.min(now, Math.max(next, RESETTLED_MS) - RESETTLED_MS);
}
