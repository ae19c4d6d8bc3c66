import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors.ts';
import { createEventBatcher } from '../../../src/server/media-events/media-event-routes.ts';
import type { MediaEvent } from '../../../src/server/platform/livekit/media-event.ts';
import { mediaEvent } from './support/event-stage.ts';

/** A store whose commits end when the test says so. */
function heldStore() {
  const commits: { readonly size: number; readonly end: (error?: unknown) => void }[] = [];
  const ingest = createEventBatcher({
    recordFree: (events: readonly MediaEvent[]) =>
      new Promise((resolve, reject) => {
        commits.push({
          size: events.length,
          end: (error) => (error === undefined ? resolve([]) : reject(error)),
        });
      }),
    record: () => Promise.reject(new Error('no room is busy')),
  });
  return { ingest, commits };
}

const some = (count: number) => Array.from({ length: count }, () => mediaEvent('room_started'));
const settled = async (added: readonly Promise<void>[]) =>
  (await Promise.allSettled(added)).map(({ status }) => status);

describe('events of a room that another instance holds', () => {
  it('wait for it separately, while those of other rooms are stored', async () => {
    const stored: string[] = [];
    const release = Promise.withResolvers<void>();
    const isHeld = ({ room }: MediaEvent) => room?.sid === 'RM_held';
    const ingest = createEventBatcher({
      recordFree: async (events) => {
        for (const event of events) if (!isHeld(event)) stored.push(event.room?.sid ?? '');
        return events.filter(isHeld);
      },
      record: async (events) => {
        await release.promise;
        for (const event of events) stored.push(event.room?.sid ?? '');
      },
    });
    const held = ingest.add(mediaEvent('room_started', { sid: 'RM_held' }));
    await ingest.add(mediaEvent('room_started', { sid: 'RM_one' }));
    await ingest.add(mediaEvent('room_started', { sid: 'RM_two' }));
    expect(stored).toEqual(['RM_one', 'RM_two']);
    release.resolve();
    await held;
    expect(stored).toEqual(['RM_one', 'RM_two', 'RM_held']);
  });
});

describe('events that arrive during a commit', () => {
  it('share the next one, 250 at most, and are acknowledged by that commit', async () => {
    const { ingest, commits } = heldStore();
    const [first, ...others] = some(252).map((event) => ingest.add(event));
    let isAcknowledged = false;
    void others[0]?.then(() => {
      isAcknowledged = true;
    });
    expect(commits.map(({ size }) => size)).toEqual([1]);
    commits[0]?.end();
    await first;
    expect(isAcknowledged).toBe(false);
    await expect.poll(() => commits.map(({ size }) => size)).toEqual([1, 250]);
    commits[1]?.end();
    await others[249];
    await expect.poll(() => commits.map(({ size }) => size)).toEqual([1, 250, 1]);
    commits[2]?.end();
    expect(await settled(others)).toEqual(Array(251).fill('fulfilled'));
  });

  it('do not fail together because of one of them', async () => {
    const { ingest, commits } = heldStore();
    const first = ingest.add(mediaEvent('room_started'));
    // Awaited from the beginning, because a rejection that nobody handles yet ends the run.
    const others = settled(some(3).map((event) => ingest.add(event)));
    commits[0]?.end();
    await first;
    await expect.poll(() => commits.length).toBe(2);
    commits[1]?.end(new Error('one of them is bad'));
    for (const [index, error] of [undefined, new Error('this one'), undefined].entries()) {
      await expect.poll(() => commits[2 + index]?.size).toBe(1);
      commits[2 + index]?.end(error);
    }
    expect(await others).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('are all rejected at once when the store does not respond, not each after its own wait', async () => {
    const { ingest, commits } = heldStore();
    const first = ingest.add(mediaEvent('room_started'));
    const others = some(50).map((event) => ingest.add(event));
    commits[0]?.end();
    await first;
    await expect.poll(() => commits.length).toBe(2);
    commits[1]?.end(
      new ServiceError('storage-unavailable', 'The database does not respond.', { retryable: true }),
    );
    expect(await settled(others)).toEqual(Array(50).fill('rejected'));
    expect(commits).toHaveLength(2);
    const next = ingest.add(mediaEvent('room_started'));
    await expect.poll(() => commits.length).toBe(3);
    commits[2]?.end();
    await next;
  });
});
