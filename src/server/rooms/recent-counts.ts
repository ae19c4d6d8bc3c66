import type { Room } from '../../contract/rooms.ts';
import type { Clock } from '../platform/clock.ts';

/*
 * LiveKit brings the count in its room records up to date every 5 s; its events come at once. So right after somebody
 * came or went, the number of those who are present by the events is the better one, and then LiveKit's again, which
 * also knows of what no event reached us. Both count people: neither agents nor recorders. Kept by the instance that got
 * the event; another one answers LiveKit's, as late as it is.
 */

/** LiveKit's 5 s, and some time until it has stored it. */
const BETTER_FOR_MS = 6000;

export type RecentCounts = {
  /** By room sid: those present after somebody came or went just now. */
  readonly note: (counts: ReadonlyMap<string, number>) => void;
  /** The room with the better count. */
  readonly correct: (room: Room) => Room;
};

export function createRecentCounts(clock: Pick<Clock, 'now'>): RecentCounts {
  /** In the order of their age. */
  const recent = new Map<string, { readonly count: number; readonly until: number }>();
  const forgetOld = (now: number): void => {
    for (const [sid, { until }] of recent) {
      if (until > now) return;
      recent.delete(sid);
    }
  };
  return {
    note: (counts) => {
      const now = clock.now();
      forgetOld(now);
      for (const [sid, count] of counts) {
        recent.delete(sid);
        recent.set(sid, { count, until: now + BETTER_FOR_MS });
      }
    },
    correct: (room) => {
      const known = recent.size === 0 ? undefined : recent.get(room.sid);
      if (known === undefined || known.until <= clock.now()) return room;
      return { ...room, numParticipants: known.count };
    },
  };
}
