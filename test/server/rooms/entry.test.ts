import { describe, expect, it } from 'vitest';
import { decideEntry, type Entrant, requireEntry } from '../../../src/server/rooms/entry.ts';

const NOW = 10_000;

type Case = readonly [
  closedTo: 'helpers' | 'everyone' | null,
  closedUntil: number | null,
  entrant: Entrant,
  isAllowed: boolean,
];

const CASES: readonly Case[] = [
  [null, null, 'person', true],
  [null, null, 'helper', true],
  ['helpers', NOW + 1, 'person', true],
  ['helpers', NOW + 1, 'helper', false],
  ['helpers', NOW, 'helper', true],
  ['everyone', NOW + 1, 'person', false],
  ['everyone', NOW + 1, 'helper', false],
  ['everyone', NOW, 'person', true],
  ['everyone', null, 'person', false],
  ['everyone', null, 'helper', false],
];

describe('entering a room', () => {
  it.each(CASES)('closed to %s until %s: a %s may: %s', (closedTo, closedUntil, entrant, isAllowed) => {
    expect(decideEntry({ closedTo, closedUntil }, entrant, NOW).isAllowed).toBe(isAllowed);
  });

  it('is allowed for a room of which nothing is known', () => {
    expect(decideEntry(undefined, 'helper', NOW).isAllowed).toBe(true);
  });

  it('is refused with the instant at which the room opens again', () => {
    const enter = (closedUntil: number | null) => () =>
      requireEntry(decideEntry({ closedTo: 'everyone', closedUntil }, 'person', NOW), 'demo');
    expect(enter(20_000)).toThrow(
      expect.objectContaining({
        code: 'room-closed',
        extensions: { closedUntil: '1970-01-01T00:00:20.000Z' },
      }),
    );
    expect(enter(null)).toThrow(expect.objectContaining({ extensions: { closedUntil: null } }));
  });
});
