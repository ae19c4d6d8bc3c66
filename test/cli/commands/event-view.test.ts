import { describe, expect, it } from 'vitest';
import { EVENT_FIELDS, eventColumns } from '../../../src/cli/commands/events/event-view.ts';
import { sampleEvent } from '../../../src/cli/commands/webhooks/trigger-command.ts';
import { EVENT_TYPES, type EventType } from '../../../src/contract/event-names.ts';
import { EVENT_SCHEMAS } from '../../../src/contract/event-payloads.ts';

const about = (type: EventType): unknown => {
  const column = eventColumns({ width: 200 } as never).find(({ heading }) => heading === 'ABOUT');
  return column?.value(sampleEvent({ type, room: 'demo', nowMs: Date.UTC(2026, 10, 1), id: 'x' }));
};

describe('the view of an event', () => {
  it.each(Object.entries(EVENT_SCHEMAS))('has every field of %s for --json', (_name, schema) => {
    expect(EVENT_FIELDS).toEqual(expect.arrayContaining(Object.keys(schema.properties)));
  });

  it.each(EVENT_TYPES.filter((type) => !['room_created', 'room_started', 'room_finished'].includes(type)))(
    'says what %s is about',
    (type) => {
      expect(about(type)).not.toBe('');
    },
  );

  it('says which receiver of a broadcast failed, when a room closes, and what a plan could not start', () => {
    expect(about('broadcast_url_failed')).toBe(
      'bc_sampleSampleSamp broadcasting rtmps://live.example.org/app/***',
    );
    expect(about('room_closing')).toBe('in 0s');
    expect(about('planned_start_failed')).toBe('recording media-worker-unavailable');
    expect(about('transcription_failed')).toBe('tr_sampleSampleSamp worker-lost');
  });
});
