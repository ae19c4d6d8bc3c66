import { describe, expect, it } from 'vitest';
import type { PlanSettings } from '../../../src/contract/plans.ts';
import { decideDue, findNextDue } from '../../../src/server/plans/due-times.ts';
import type { PlannedRoom } from '../../../src/server/rooms/store.ts';

const OPENED = Date.UTC(2026, 1, 1, 8);
const at = (seconds: number) => OPENED + seconds * 1000;
const instant = (seconds: number) => new Date(at(seconds)).toISOString();

const room = (changes: Partial<PlannedRoom> = {}): PlannedRoom => ({
  sid: 'RM_1',
  room: 'lesson-1',
  createdAt: OPENED,
  startedAt: null,
  aloneSince: null,
  closesAt: null,
  warnedAt: null,
  closeReason: null,
  dueAt: null,
  triggeredAt: null,
  ...changes,
});

const ends: PlanSettings = { closesAt: instant(3600) };

describe('what is due in a planned room', () => {
  it('is a warning five minutes and one minute before the end, then the end', () => {
    const story: (readonly [string, number | null])[] = [];
    let row = room();
    let now = OPENED;
    for (;;) {
      const { act, room: next } = decideDue(row, ends, now);
      story.push([act.type, (now - OPENED) / 1000]);
      if (act.type === 'close') break;
      row = next;
      now = row.dueAt ?? Number.NaN;
    }
    expect(story).toEqual([
      ['wait', 0],
      ['warn', 3300],
      ['warn', 3540],
      ['close', 3600],
    ]);
  });

  it('is not a warning whose time was over when the room was opened', () => {
    const late = room({ createdAt: at(3400) });
    const { act, room: next } = decideDue(late, ends, at(3400));
    expect([act.type, next.dueAt]).toEqual(['wait', at(3540)]);
  });

  it('is one warning for those that nobody gave', () => {
    const { act, room: next } = decideDue(room(), ends, at(3550));
    expect([act.type, next.warnedAt, next.dueAt]).toEqual(['warn', at(3540), at(3600)]);
  });

  it('is a warning at once when the end is moved after the first one, and all of them again when it is moved away', () => {
    const warned = decideDue(room(), ends, at(3300)).room;
    const nearer = decideDue(warned, { closesAt: instant(3420) }, at(3310));
    expect([nearer.act.type, nearer.room.dueAt]).toEqual(['warn', at(3360)]);
    const away = decideDue(warned, { closesAt: instant(7200) }, at(3310));
    expect([away.act, away.room.dueAt]).toEqual([
      { type: 'warn', end: { at: at(7200), reason: 'closes_at' } },
      at(6900),
    ]);
    expect(decideDue(away.room, { closesAt: instant(7200) }, at(3311)).act.type, 'once').toBe('wait');
    const unwarned = decideDue(room(), ends, OPENED).room;
    expect(decideDue(unwarned, { closesAt: instant(7200) }, at(10)).act.type).toBe('wait');
  });

  it('is the earlier one of two ends, with its reason', () => {
    const both: PlanSettings = { ...ends, maxDuration: 600 };
    expect(decideDue(room({ startedAt: at(10) }), both, at(610)).act).toMatchObject({
      type: 'close',
      end: { at: at(610), reason: 'max_duration' },
    });
    expect(decideDue(room({ startedAt: at(3590) }), both, at(3600)).act).toMatchObject({
      end: { reason: 'closes_at' },
    });
  });

  it('is no end before the first join, where the plan has a duration only', () => {
    const { act, room: next } = decideDue(room(), { maxDuration: 60 }, at(1000));
    expect([act.type, next.dueAt]).toEqual(['wait', null]);
  });

  it('is a look when somebody has been alone for long enough, and not a millisecond before', () => {
    const alone = room({ startedAt: OPENED, aloneSince: at(5) });
    const plan: PlanSettings = { soloTimeout: 60 };
    expect(decideDue(alone, plan, at(65) - 1)).toMatchObject({
      act: { type: 'wait' },
      room: { dueAt: at(65) },
    });
    expect(decideDue(alone, plan, at(65)).act.type).toBe('look');
  });

  it('is nothing without a plan, and without warnings only the end', () => {
    expect(decideDue(room({ dueAt: at(1) }), undefined, at(1)).room.dueAt).toBeNull();
    expect(findNextDue({ ...ends, closingWarnings: [] }, room(), OPENED)).toBe(at(3600));
    expect(findNextDue({}, room(), OPENED)).toBeUndefined();
  });
});
