import type { Room } from '../../contract/rooms.ts';
import type { Clock } from '../platform/clock.ts';

/*
 * LiveKit updates the count in its room records every 5 s, while its events come at once. Right after somebody joined or
 * left, the count by events is therefore the better one. Later LiveKit's is, because it includes people whose events were
 * lost. Both count people, and neither agents nor recorders. Only the instance that received the event knows the better
 * count; the others return LiveKit's.
 */

/** LiveKit's 5 s, and the time until it has stored the count. */
const BETTER_FOR_MS = 6000;

export type RecentCounts = {
  /** Number of people by room sid, after somebody joined or left. */
  readonly note: (counts: ReadonlyMap<string, number>) => void;
  /** The room with the better count. */
  readonly correct: (room: Room) => Room;
};

export function createRecentCounts(clock: Pick<Clock, 'monotonic'>): RecentCounts {
  /** The oldest count comes first. */
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
