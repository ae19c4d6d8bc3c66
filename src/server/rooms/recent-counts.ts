import type { Room } from '../../contract/rooms.ts';
import type { Clock } from '../platform/clock.ts';

/*
 * LiveKit updates the count in its room records every 5 s, while its events arrive at once. Right after somebody joined or
 * left, the count by events is therefore more exact. Later LiveKit's count is, because it includes participants whose events
 * were lost. Both exclude agents and recorders. Only the instance that received the event knows the more exact count; the
 * others return LiveKit's.
 */

/** How long the count by events is preferred: LiveKit's 5 s, and the time until it has stored its count. */
const BETTER_FOR_MS = 6000;

export type RecentCounts = {
  /** Notes the number of participants by room sid, after somebody joined or left. */
  readonly note: (counts: ReadonlyMap<string, number>) => void;
  /** Returns the room with the more exact count. */
  readonly correct: (room: Room) => Room;
};

export function createRecentCounts(clock: Pick<Clock, 'monotonic'>): RecentCounts {
  /** Ordered by age, the oldest count first. */
  const recent = new Map<string, { readonly count: number; readonly until: number }>();
  const forgetOld = (now: number): void => {
    for (const [sid, { until }] of recent) {
      if (until > now) return;
      recent.delete(sid);
    }
  };
  return {
    note: (counts) => {
      const now = clock.monotonic();
      forgetOld(now);
      for (const [sid, count] of counts) {
        recent.delete(sid);
        recent.set(sid, { count, until: now + BETTER_FOR_MS });
      }
    },
    correct: (room) => {
      const known = recent.size === 0 ? undefined : recent.get(room.sid);
      if (known === undefined || known.until <= clock.monotonic()) return room;
      return { ...room, numParticipants: known.count };
    },
  };
}
