import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/contract/events.ts';
import { factsAfter, NO_FACTS } from '../../../src/web/console/api/live-facts.ts';

const ROOM = { id: 'RM_1', name: 'demo', createdAt: '2026-01-01T00:00:00.000Z', numParticipants: 2 };
const base = { id: 'evt_1', sequence: 1, timestamp: '2026-01-01T00:00:00.000Z', room: ROOM } as const;

/** Only the type and the room matter. */
const event = (kind: Event['event']): Event => ({ ...base, event: kind }) as Event;

describe("the console's state of a room by its events", () => {
  it('is recorded from the start of a recording to its end, whatever the media server reports', () => {
    const started = factsAfter(NO_FACTS, event('egress_started'));
    expect(started.recordings.get('RM_1')).toBe(true);
    const joined = factsAfter(started, event('participant_joined'));
    expect(joined.recordings.get('RM_1')).toBe(true);
    expect(factsAfter(joined, event('egress_ended')).recordings.get('RM_1')).toBe(false);
  });

  it('has the participants of the newest event', () => {
    const facts = factsAfter(NO_FACTS, event('participant_joined'));
    expect(facts.participants.get('RM_1')).toBe(2);
    expect(facts.recordings.size).toBe(0);
  });
});
