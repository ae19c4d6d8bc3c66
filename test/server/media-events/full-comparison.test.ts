import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors.ts';
import type { Room } from '../../../src/contract/rooms.ts';
import {
  type Reconciler,
  type ReconcilerDeps,
  startReconciler,
} from '../../../src/server/media-events/reconciler.ts';
import type { MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import type { RecordingFiles } from '../../../src/server/recordings/files/recording-files.ts';
import { silentLog } from '../../support/silent-log.ts';
import { type EventStage, mediaEvent, openEventStage } from './support/event-stage.ts';

let stage: EventStage;
/** The instances that asked for all rooms, in order. */
let listedBy: string[];
/** The instances that know that everything was compared. */
let compared: string[];
/** The media server's response to a list of rooms, by instance. */
let list: (instance: string) => Promise<readonly Room[]>;
const running: Reconciler[] = [];

beforeEach(async () => {
  stage = await openEventStage();
  listedBy = [];
  compared = [];
  list = async () => [];
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((reconciler) => reconciler.close()));
  await stage.close();
});

function start(instanceId: string, overrides: Partial<ReconcilerDeps> = {}): Reconciler {
  const mediaServer = {
    listRooms: async (names?: readonly string[]) => {
      if (names !== undefined) return [];
      listedBy.push(instanceId);
      return await list(instanceId);
    },
    isRoomServed: async () => false,
  } as Partial<MediaServer> as MediaServer;
  const reconciler = startReconciler({
    ...stage.deps,
    instanceId,
    mediaServer,
    log: silentLog,
    recordingFiles: {} as RecordingFiles,
    onCompared: () => void compared.push(instanceId),
    ...overrides,
  });
  running.push(reconciler);
  return reconciler;
}

/** Advances the clock second by second, so that everybody who sleeps for a second can do so again. */
async function advance(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    // Everything that happens without the clock is a call of the store. These calls let it finish.
    for (let turn = 0; turn < 20; turn += 1) await stage.store.comparisons.numbers();
    stage.clock.advance(1_000);
  }
}

/** Advances the clock until the condition holds. */
const pollWhileAdvancing = <T>(read: () => T) =>
  expect.poll(async () => {
    await advance(1);
    return read();
  });

/** Leaves the traces of an instance that was killed during a comparison. */
const leaveUnfinishedComparison = () =>
  stage.store.comparisons.begin({ owner: 'killed', until: stage.clock.now() + 3_000 }, stage.clock.now());

describe('the comparison of everything after a start or after rejected events', () => {
  it('is made by one of three instances that start together, and the others rely on it', async () => {
    const listed = Promise.withResolvers<readonly Room[]>();
    list = () => listed.promise;
    for (const instance of ['first', 'second', 'third']) start(instance);
    await expect.poll(() => listedBy).toHaveLength(1);
    await advance(10);
    expect(listedBy).toHaveLength(1);
    expect(compared).toEqual([]);
    listed.resolve([]);
    await expect.poll(() => compared).toEqual(listedBy);
    await pollWhileAdvancing(() => [...compared].sort()).toEqual(['first', 'second', 'third']);
    expect(listedBy).toHaveLength(1);
  });

  it('is made at once by an instance that starts after one that was completed', async () => {
    start('first');
    await expect.poll(() => compared).toEqual(['first']);
    await stage.receive(mediaEvent('room_started'));
    start('second');
    await expect.poll(() => compared).toEqual(['first', 'second']);
    expect(listedBy).toEqual(['first', 'second']);
    expect(await stage.summary()).toContain('room_finished 0 reconciled');
  });

  it('waits for an instance that was killed during it until its short lease ends, and no longer', async () => {
    await leaveUnfinishedComparison();
    await stage.receive(mediaEvent('room_started'));
    start('restarted');
    await advance(2);
    expect(listedBy).toEqual([]);
    await pollWhileAdvancing(() => compared).toEqual(['restarted']);
    expect(await stage.summary()).toContain('room_finished 0 reconciled');
  });

  it('does not wait for a lease that was taken before the clock was set back', async () => {
    await leaveUnfinishedComparison();
    stage.clock.setBack(3_600_000);
    start('restarted');
    await expect.poll(() => compared).toEqual(['restarted']);
  });

  it('is made by the next instance when the current one fails and tries again', async () => {
    list = async (instance) => {
      if (instance === 'first') throw new ServiceError('media-server-error', 'refused');
      return [];
    };
    start('first');
    await expect.poll(() => listedBy).toEqual(['first']);
    await expect.poll(() => stage.clock.sleeping).toBe(1);
    start('second');
    await expect.poll(() => compared).toEqual(['second']);
  });

  it('is made by the next instance when the current one closes', async () => {
    list = () => new Promise(() => {});
    const first = start('first');
    await expect.poll(() => listedBy).toEqual(['first']);
    start('second');
    await advance(1);
    list = async () => [];
    await first.close();
    await pollWhileAdvancing(() => compared).toEqual(['second']);
  });

  it('is made by another instance when the current one was suspended, and the late end of the first one is ignored', async () => {
    const listed = Promise.withResolvers<readonly Room[]>();
    list = async (instance) => (instance === 'second' ? new Promise(() => {}) : await listed.promise);
    const { comparisons } = stage.store;
    const thaw = Promise.withResolvers<void>();
    const renew: typeof comparisons.renew = (...lease) =>
      thaw.promise.then(() => comparisons.renew(...lease));
    start('frozen', { store: { ...stage.store, comparisons: { ...comparisons, renew } } });
    await expect.poll(() => listedBy).toEqual(['frozen']);
    start('second');
    await pollWhileAdvancing(() => listedBy).toEqual(['frozen', 'second']);
    start('third');
    await advance(1);
    listed.resolve([]);
    thaw.resolve();
    await advance(5);
    expect(compared).not.toContain('third');
    expect(await comparisons.numbers()).toEqual({ begun: 2, completed: 0 });
  });

  it('is not the running one after rejected events, because that one may have passed their rooms', async () => {
    start('first');
    const second = start('second');
    await expect.poll(() => stage.clock.sleeping).toBe(2);
    await pollWhileAdvancing(() => compared).toHaveLength(2);
    listedBy = [];
    compared = [];
    const listed = Promise.withResolvers<readonly Room[]>();
    list = () => listed.promise;
    start('third');
    await expect.poll(() => listedBy).toEqual(['third']);
    second.compareAll();
    await advance(3);
    expect(listedBy).toEqual(['third']);
    listed.resolve([]);
    await pollWhileAdvancing(() => compared).toEqual(['third', 'second']);
    expect(listedBy).toEqual(['third', 'second']);
  });

  it('is made once for all instances that rejected events', async () => {
    const instances = ['first', 'second', 'third'].map((instance) => start(instance));
    await pollWhileAdvancing(() => compared).toHaveLength(3);
    listedBy = [];
    compared = [];
    const listed = Promise.withResolvers<readonly Room[]>();
    list = () => listed.promise;
    for (const instance of instances) instance.compareAll();
    await pollWhileAdvancing(() => listedBy).toHaveLength(1);
    // The instances that found this comparison running cannot know whether it began after their events.
    listed.resolve([]);
    await pollWhileAdvancing(() => [...compared].sort()).toEqual(['first', 'second', 'third']);
    expect(listedBy.length).toBeLessThanOrEqual(2);
  });
});
