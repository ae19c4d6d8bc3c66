import Schema from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { EVENT_NAMES, EVENT_TYPES, findEventType } from '../../src/contract/event-names.ts';
import { EVENT_SCHEMAS, type Event, EventSchema } from '../../src/contract/event-payloads.ts';

const JOINED = {
  event: 'participant_joined',
  room: {
    ...{ id: 'RM_hycBMAjmt6Ub', name: 'demo', createdAt: '2026-01-31T09:30:00.000Z' },
    ...{ metadata: '', numParticipants: 1 },
  },
  timestamp: '2026-01-31T09:30:04.000Z',
  id: 'evt_01KAJ3F5N8QZ7V2M4T6W8Y0B1C',
  sequence: 3,
  participant: {
    sid: 'PA_4bPp8Vi9S6Dd',
    identity: 'ada',
    name: 'Ada Lovelace',
    joinedAt: '2026-01-31T09:30:04.000Z',
  },
} as const satisfies Event;

const isEvent = (value: unknown): boolean => Schema.Check(EventSchema, value);

describe('the payload of an event', () => {
  it('has its subject as soon as its name is checked, for the compiler too', () => {
    const describeEvent = (event: Event): string => {
      if (event.event === 'participant_joined') return event.participant.joinedAt;
      if (event.event === 'participant_left') return event.participant.leaveReason;
      if (event.event === 'egress_ended' || event.event === 'recording_stopped')
        return event.recording.egressId;
      return event.participant?.identity ?? event.transcription?.transcriptionId ?? event.event;
    };
    expect(describeEvent(JOINED)).toBe('2026-01-31T09:30:04.000Z');
  });

  it('is distinguished by its name: another name needs another subject', () => {
    expect(isEvent(JOINED)).toBe(true);
    for (const event of EVENT_TYPES.filter((type) => !/^(room|participant)_/.test(type)))
      expect([event, isEvent({ ...JOINED, event })]).toEqual([event, false]);
    expect(isEvent({ ...JOINED, event: 'participant_left' })).toBe(false);
    expect(isEvent({ ...JOINED, event: 'webhook_test' })).toBe(false);
  });

  it('has every name under which a webhook can register it', () => {
    for (const name of EVENT_NAMES) {
      const type = findEventType(name);
      if (type === undefined) continue;
      const { event } = EVENT_SCHEMAS[type].properties;
      expect([name, Schema.Check(event, name)]).toEqual([name, true]);
    }
  });

  it('may have further fields of a newer version', () => {
    expect(isEvent({ ...JOINED, region: 'eu' })).toBe(true);
  });
});
