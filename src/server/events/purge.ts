import type { PurgeRefusalReason } from '../../contract/self-check.ts';
import { CLOCKS_APART_MS, type Clock, readDatabaseTime, type StoreClock } from '../platform/clock.ts';
import { type Loop, startLoop } from '../platform/jobs/loop.ts';
import type { Log } from '../platform/log.ts';
import type { EventStores, PurgeTimes } from './store.ts';

const INTERVAL_MS = 600_000;
/** Small, so that other writers do not wait for a batch. */
const BATCH = 500;
const PAUSE_MS = 50;

export type PurgeDeps = {
  readonly store: Pick<EventStores, 'events'> & {
    readonly clock: Pick<StoreClock, 'now' | 'databaseNow'>;
  };
  /** The clock of this machine. */
  readonly machineClock: Pick<Clock, 'now'>;
  readonly clock: Clock;
  readonly mediaClock: MediaTime;
  /** Whether the database or the media server is on another machine, whose clock is set independently of ours. */
  readonly isOtherMachineAsked: boolean;
  readonly log: Log;
  /** The purges of a round, in their order. The log names them by their keys. */
  readonly purges: Readonly<Record<string, Purge>>;
};

/** See MediaClock. */
type MediaTime = { readonly readDifference: (now: number) => number | undefined };

/**
 * Deletes at most `limit` records whose retention has ended at `now`, and returns their number. The clock is read for each
 * batch, since it may be corrected during a long round.
 */
export type Purge = (batch: PurgeBatch) => Promise<number>;

export type PurgeBatch = { readonly now: number; readonly limit: number; readonly signal: AbortSignal };

/*
 * A clock that is ahead ends every retention at once. What is deleted cannot be undone, so that no single clock decides:
 *   - nothing is deleted in the first minutes after a start, in which a clock may still be set;
 *   - the clocks of this machine, of the database and of LiveKit, as far as they are known, differ by five minutes at most;
 *   - the time since the last deletion, or since the newest event before the first one, is at most a day. After a longer
 *     pause, such as an outage, the clock of another machine has to confirm ours: then LiveKit's clock is known, and LiveKit or
 *     the database is not on this machine. Otherwise an operator does it (`rtc admin confirm-clock`).
 */

/** Time after a start in which nothing is deleted. */
export const QUIET_MS = 300_000;
const LONGEST_PAUSE_MS = 86_400_000;

type RunningPurge = Pick<Loop, 'close'> & {
  /** Since when and why nothing is deleted because the clock may be wrong. */
  readonly refusal: () => PurgeRefusal | undefined;
};

/** `since` is Unix milliseconds. */
export type PurgeRefusal = { readonly since: number; readonly reason: PurgeRefusalReason };

/** Deletes records whose retention has ended, in small batches, and logs their number. Any instance may do it. */
export function startPurge(deps: PurgeDeps): RunningPurge {
  const { clock, log, store, machineClock, mediaClock, isOtherMachineAsked } = deps;
  let isQuiet = true;
  let refusal: PurgeRefusal | undefined;
  const mayPurge = async (): Promise<boolean> => {
    const now = machineClock.now();
    const clocks = {
      now,
      database: readDatabaseTime(store.clock),
      media: mediaClock.readDifference(now),
      isOtherMachineAsked,
    };
    const doubt = findDoubt(clocks, await store.events.readPurgeTimes());
    if (doubt === undefined) {
      refusal = undefined;
      return true;
    }
    if (refusal?.reason !== doubt.reason) {
      log.error({ now: new Date(clock.now()).toISOString(), ...doubt }, MESSAGES[doubt.reason]);
    }
    refusal = { since: refusal?.since ?? clock.now(), reason: doubt.reason };
    return false;
  };
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'deleting expired data failed; trying again',
    round: async (signal) => {
      if (isQuiet) await clock.sleep(QUIET_MS, signal);
      isQuiet = false;
      if (!(await mayPurge())) return REFUSED_INTERVAL_MS;
      const deleted = new Map<string, number>();
      const startedAt = clock.now();
      try {
        await purgeAll(deps, signal, (name, count) => deleted.set(name, (deleted.get(name) ?? 0) + count));
        await store.events.notePurge(startedAt);
      } finally {
        if (deleted.size > 0) log.info(Object.fromEntries(deleted), 'deleted expired data');
      }
      return INTERVAL_MS;
    },
  });
  return { close: loop.close, refusal: () => refusal };
}

/** Short, because an operator who has confirmed the clock looks whether that helped. */
const REFUSED_INTERVAL_MS = 10_000;

const MESSAGES: Readonly<Record<PurgeRefusalReason, string>> = {
  pause:
    'nothing is deleted: the clock may be wrong. Correct it, or confirm it with: rtc admin confirm-clock',
  'database-clock':
    "nothing is deleted: the clocks of this machine and of the database differ. Set the wrong one; a confirmation doesn't help",
  'media-server-clock':
    "nothing is deleted: the clocks of this machine and of LiveKit differ. Set the wrong one; a confirmation doesn't help",
};

type Doubt = { readonly reason: PurgeRefusalReason; readonly what: string; readonly time: string };

export type Clocks = Pick<PurgeDeps, 'isOtherMachineAsked'> & {
  readonly now: number;
  readonly database: number;
  /** Milliseconds by which LiveKit's clock is ahead of `now`; undefined while that is unknown. */
  readonly media: number | undefined;
};

/** Finds why nothing may be deleted. `time` is what the other clock shows, or when `what` was. */
export function findDoubt(clocks: Clocks, { purgedAt, newestAt }: PurgeTimes): Doubt | undefined {
  const { now, database, media, isOtherMachineAsked } = clocks;
  if (Math.abs(now - database) > CLOCKS_APART_MS) {
    return { reason: 'database-clock', what: "the database's clock", time: toText(database) };
  }
  if (media !== undefined && Math.abs(media) > CLOCKS_APART_MS) {
    return { reason: 'media-server-clock', what: "LiveKit's clock", time: toText(now + media) };
  }
  const last = purgedAt ?? newestAt;
  if (last === undefined || now - last <= LONGEST_PAUSE_MS) return undefined;
  if (isOtherMachineAsked && media !== undefined) return undefined;
  const what = purgedAt === undefined ? 'the newest event' : 'the last deletion';
  return { reason: 'pause', what, time: toText(last) };
}

function toText(ms: number): string {
  return new Date(ms).toISOString();
}

async function purgeAll(
  { clock, purges }: PurgeDeps,
  signal: AbortSignal,
  onDeleted: (name: string, count: number) => void,
): Promise<void> {
  for (const [name, purge] of Object.entries(purges)) {
    while (!signal.aborted) {
      const count = await purge({ now: clock.now(), limit: BATCH, signal });
      if (count === 0) break;
      onDeleted(name, count);
      await clock.sleep(PAUSE_MS, signal);
    }
  }
}
