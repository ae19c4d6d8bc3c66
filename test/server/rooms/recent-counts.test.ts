import { describe, expect, it } from 'vitest';
import type { Room } from '../../../src/contract/rooms.ts';
import { createRecentCounts } from '../../../src/server/rooms/list-rooms.ts';

const room = (sid: string, numParticipants: number) => ({ sid, name: sid, numParticipants }) as Room;

function stage() {
  let now = 1_000_000;
  const counts = createRecentCounts({ monotonic: () => now });
  const corrected = (sid: string, reported: number) => counts.correct(room(sid, reported)).numParticipants;
  return { note: counts.note, corrected, pass: (ms: number) => (now += ms) };
}

describe('the count of participants in a room', () => {
  it('is the count by events up to 5999 ms after one, and the media server’s from 6000 ms on', () => {
    const { note, corrected, pass } = stage();
    note(new Map([['RM_a', 3]]));
    expect(corrected('RM_a', 2)).toBe(3);
    pass(5999);
    expect(corrected('RM_a', 2)).toBe(3);
    pass(1);
    expect(corrected('RM_a', 2)).toBe(2);
  });

  it('is the media server’s in a room without events', () => {
    const { note, corrected } = stage();
    expect(corrected('RM_a', 2)).toBe(2);
    note(new Map([['RM_b', 0]]));
    expect([corrected('RM_a', 2), corrected('RM_b', 1)]).toEqual([2, 0]);
  });

  it('is the count by the last event, whose time counts', () => {
    const { note, corrected, pass } = stage();
    note(
      new Map([
        ['RM_a', 3],
        ['RM_b', 1],
      ]),
    );
    pass(4000);
    note(new Map([['RM_a', 4]]));
    pass(2000);
    expect([corrected('RM_a', 0), corrected('RM_b', 0)]).toEqual([4, 0]);
    pass(4000);
    note(new Map());
    expect(corrected('RM_a', 0)).toBe(0);
  });
});
