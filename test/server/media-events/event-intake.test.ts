import { beforeEach, describe, expect, it } from 'vitest';
import { EventIntake } from '../../../src/server/media-events/media-event-routes.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { mediaEvent, NOW } from './support/event-stage.ts';

describe('the intake of events', () => {
  let clock: ManualClock;
  let intake: EventIntake;
  let refused: number;
  let isStoreUnavailable: boolean;

  beforeEach(() => {
    clock = new ManualClock(NOW);
    refused = 0;
    isStoreUnavailable = true;
    intake = new EventIntake({
      clock,
      record: async () => {
        if (isStoreUnavailable) throw new Error('unavailable');
      },
      onRefused: () => {
        refused += 1;
      },
    });
  });
  const refuse = () => expect(intake.ingest(mediaEvent('room_started'))).rejects.toThrow('unavailable');

  it('remembers since when events have been rejected', async () => {
    expect(intake.refusedSince).toBeUndefined();
    await refuse();
    clock.advance(5_000);
    await refuse();
    isStoreUnavailable = false;
    await intake.ingest(mediaEvent('room_started'));
    expect([intake.refusedSince, refused]).toEqual([NOW, 2]);
  });

  it('forgets rejected events when a comparison that began after the last of them has ended', async () => {
    await refuse();
    clock.advance(5_000);
    await refuse();
    intake.clearRefusedBefore(4_999);
    expect(intake.refusedSince).toBe(NOW);
    intake.clearRefusedBefore(5_000);
    expect(intake.refusedSince).toBeUndefined();
  });
});
