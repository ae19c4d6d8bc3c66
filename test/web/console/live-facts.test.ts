import { expect, it } from 'vitest';
import type { Event } from '../../../src/contract/events.ts';
import { factsAfter, NO_FACTS } from '../../../src/web/console/api/query-keys.ts';

const ROOM = { id: 'RM_1', name: 'demo', createdAt: '2026-01-01T00:00:00.000Z', numParticipants: 2 };
const base = { id: 'evt_1', sequence: 1, timestamp: '2026-01-01T00:00:00.000Z', room: ROOM } as const;

it("the console's state of a room has the participants of the newest event", () => {
  // Only the type and the room matter.
  const joined = { ...base, event: 'participant_joined' } as Event;
  const left = { ...joined, event: 'participant_left', room: { ...ROOM, numParticipants: 1 } } as Event;
  const facts = factsAfter(NO_FACTS, joined);
  expect(facts.participants.get('RM_1')).toBe(2);
  expect(factsAfter(facts, left).participants.get('RM_1')).toBe(1);
});
