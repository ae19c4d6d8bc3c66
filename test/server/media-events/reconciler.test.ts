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
import { type EventStage, mediaEvent, NOW, openEventStage } from './support/event-stage.ts';

let stage: EventStage;
let lists: number;
/** How often the media server was asked for a single room. */
let looks: number;
/** The media server's response to a list of rooms. */
let list: () => Promise<readonly Room[]>;
const running: Reconciler[] = [];
beforeEach(async () => {
  stage = await openEventStage();
  lists = 0;
  looks = 0;
  list = async () => [];
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((reconciler) => reconciler.close()));
  await stage.close();
});

const mediaServer = {
  listRooms: async (names?: readonly string[]) => {
    if (names !== undefined) {
      looks += 1;
      await list();
      return [];
    }
    lists += 1;
    return await list();
  },
  isRoomServed: async (name) => (await list()).some((room) => room.name === name),
  listParticipants: async () => [],
} as Partial<MediaServer> as MediaServer;

const start = (instanceId: string, parts: Partial<ReconcilerDeps> = {}) => {
  const reconciler = startReconciler({
    ...stage.deps,
    instanceId,
    mediaServer,
    log: silentLog,
    recordingFiles: {} as RecordingFiles,
    ...parts,
  });
  running.push(reconciler);
  return reconciler;
};
/** Waits until every reconciler sleeps. */
const settle = (sleeping = 1) => expect.poll(() => stage.clock.sleeping).toBe(sleeping);
const lease = (until: number) =>
  stage.store.leases.acquire({ name: 'reconcile', owner: 'another', until }, stage.clock.now());

/** A room on the media server, so that there is something to compare. */
const OPEN_ROOM = {
  sid: 'RM_open',
  name: 'open',
  creationTime: String(NOW / 1000 - 3600),
  creationTimeMs: String(NOW - 3_600_000),
  numParticipants: 0,
} as Room;

describe('the reconciler', () => {
  it('takes no lease and writes nothing while there has been nothing to compare for a minute', async () => {
    start('first');
    const pass = async (ms: number) => {
      await settle();
      stage.clock.advance(ms);
      await settle();
    };
    for (let round = 0; round < 4; round += 1) await pass(30_000);
    // Until it settles it asks twice: whether a room exists, and in the round.
    expect(lists).toBe(1 + 2 + 2 + 1 + 1);
    expect(await lease(stage.clock.now() + 1)).toBe(true);
    const opened: Room = { ...OPEN_ROOM, creationTimeMs: String(stage.clock.now()) };
    list = async () => [opened];
    await pass(30_000);
    await pass(30_000);
    await expect.poll(stage.summary).toEqual(['room_created 0 reconciled']);
    expect(await lease(stage.clock.now() + 1)).toBe(false);
  });

  it('compares at its start, also while a killed instance still has the lease', async () => {
    await stage.receive(mediaEvent('room_started'));
    stage.clock.advance(60_000);
    await lease(stage.clock.now() + 55_000);
    start('restarted');
    await expect.poll(stage.summary).toContain('room_finished 0 reconciled');
    expect(stage.clock.now()).toBe(NOW + 60_000);
  });

  it('leaves later rounds to the instance that has the lease, and takes over when that one ends', async () => {
    list = async () => [OPEN_ROOM];
    start('second');
    await settle();
    expect(lists).toBe(1);
    await stage.store.leases.take({ name: 'reconcile', owner: 'another', until: NOW + 100_000 });
    stage.clock.advance(30_000);
    await settle();
    expect(lists).toBe(1);
    await stage.store.leases.release({ name: 'reconcile', owner: 'another' });
    stage.clock.advance(30_000);
    await expect.poll(() => lists).toBe(2);
  });

  it('keeps its lease in the pauses between its rounds', async () => {
    list = async () => [OPEN_ROOM];
    start('first');
    await settle();
    stage.clock.advance(29_999);
    expect(await lease(stage.clock.now() + 1_000)).toBe(false);
    stage.clock.advance(1);
    await expect.poll(() => lists).toBe(2);
    await settle();
    stage.clock.advance(29_999);
    expect(await lease(stage.clock.now() + 1_000)).toBe(false);
  });

  it('waits for as long after a long round, so that the next one counts whatever it has noted', async () => {
    const pauses: number[] = [];
    const clock = {
      now: () => stage.clock.now(),
      monotonic: () => stage.clock.monotonic(),
      sleep: (ms: number, signal?: AbortSignal) => {
        pauses.push(ms);
        return stage.clock.sleep(ms, signal);
      },
    };
    list = async () => [OPEN_ROOM];
    start('first', { clock });
    await expect.poll(() => pauses).toContain(30_000);
    list = async () => {
      stage.clock.advance(2_000);
      return [];
    };
    stage.clock.advance(30_000);
    await expect.poll(() => pauses).toContain(20_000);
    list = async () => [];
    stage.clock.advance(20_000);
    await expect.poll(stage.summary).toContain('room_finished 0 reconciled');
  });

  it('renews its lease during a longer round', async () => {
    const { promise, resolve } = Promise.withResolvers<readonly Room[]>();
    list = () => promise;
    start('first');
    // One lease for the comparison, and one for the rounds.
    const LEASES = 2;
    for (let seconds = 0; seconds < 120; seconds += 15) {
      await settle(LEASES);
      stage.clock.advance(15_000);
    }
    await settle(LEASES);
    expect(await lease(stage.clock.now() + 1_000)).toBe(false);
    resolve([]);
  });

  it('ends at once when it is closed while the media server does not respond, and releases its lease', async () => {
    list = () => new Promise(() => {});
    const reconciler = start('first');
    await expect.poll(() => lists).toBe(1);
    await reconciler.close();
    expect(await lease(stage.clock.now() + 1_000)).toBe(true);
  });

  it('stops its round when another instance has taken the lease, and logs no error', async () => {
    const warnings: unknown[] = [];
    list = async () => [OPEN_ROOM];
    start('first', { log: { ...silentLog, warn: (fields) => void warnings.push(fields) } });
    await settle();
    list = () => new Promise(() => {});
    stage.clock.advance(30_000);
    await expect.poll(() => lists).toBe(2);
    await settle();
    const until = stage.clock.now() + 300_000;
    await stage.store.leases.take({ name: 'reconcile', owner: 'another', until });
    stage.clock.advance(15_000);
    await settle();
    stage.clock.advance(60_000);
    await settle();
    expect(lists).toBe(2);
    expect(warnings).toEqual([]);
  });

  it('has the lease after it has compared everything, also when a killed instance held it', async () => {
    await lease(NOW + 40_000);
    list = async () => [OPEN_ROOM];
    start('restarted');
    await settle();
    stage.clock.advance(30_000);
    await expect.poll(() => lists).toBe(2);
  });

  it('compares everything again after events were rejected, whichever instance has the lease', async () => {
    const compared: number[] = [];
    const reconciler = start('first', { onCompared: (startedAt) => void compared.push(startedAt) });
    await expect.poll(() => compared).toEqual([0]);
    await settle();
    await stage.store.leases.release({ name: 'reconcile', owner: 'first' });
    await lease(NOW + 300_000);
    await stage.receive(mediaEvent('room_started'));
    reconciler.compareAll();
    stage.clock.advance(1_000);
    await expect.poll(() => compared).toEqual([0, 1_000]);
    expect(await stage.summary()).toContain('room_finished 0 reconciled');
  });

  it('tries again within seconds while the media server or the database does not respond', async () => {
    list = () => Promise.reject(new ServiceError('media-server-unavailable', 'no connection'));
    start('first');
    await settle();
    list = async () => [];
    stage.clock.advance(1_000);
    await expect.poll(() => lists).toBe(2);
  });

  it.each(['media-server-unavailable', 'media-server-error'] as const)(
    'leaves its lease to others and does not use the database after a %s',
    async (code) => {
      list = () => Promise.reject(new ServiceError(code, 'no connection, or a token that is not valid yet'));
      start('first');
      await settle();
      const take = (until: number) =>
        stage.store.leases.acquire({ name: 'reconcile', owner: 'second', until }, NOW);
      expect(await take(NOW)).toBe(true);
      stage.clock.advance(1_000);
      await expect.poll(() => looks).toBe(1);
      await settle();
      expect(lists).toBe(1);
      expect(await take(NOW + 1)).toBe(true);
    },
  );
});
