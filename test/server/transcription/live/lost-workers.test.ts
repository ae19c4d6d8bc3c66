import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import { systemIds } from '../../../../src/server/platform/clock.ts';
import { createAudioSpillFile } from '../../../../src/server/transcription/audio/audio-spill-file.ts';
import {
  type LiveTranscriber,
  startLiveTranscriber,
} from '../../../../src/server/transcription/live/live-transcriber.ts';
import { failLostTranscriptions } from '../../../../src/server/transcription/stop-transcription.ts';
import { NO_DISPATCHER } from '../../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { collectingLog } from '../../../support/app.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testSpeech } from '../../../support/test-speech.ts';
import {
  postgresTestDatabase,
  sqliteTestDatabase,
  type TestDatabase,
} from '../../platform/storage/test-databases.ts';
import { letPass } from '../../webhooks/dispatcher/support/let-pass.ts';

/* Workers die while they transcribe, and another one takes over. The rooms and the clock are simulated. */

const NOW = Date.UTC(2026, 0, 31, 9, 30, 0);
const LEASE_MS = 2_000;

describe.each([
  ['SQLite', sqliteTestDatabase],
  ['PostgreSQL', postgresTestDatabase],
] as const)('a live worker on %s', (_engine, prepare) => {
  let stage: TestDatabase;
  let store: Store;
  let clock: ManualClock;
  let joined: string[];
  let reads: number;
  let workers: LiveTranscriber[];
  beforeEach(async () => {
    stage = await prepare();
    store = await stage.open();
    clock = new ManualClock(NOW);
    [joined, reads, workers] = [[], 0, []];
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await stage.close();
  });

  const start = (id: string) =>
    store.transcriptions.startLive({
      ...{ id, room: `room of ${id}`, language: 'en', speakers: {}, createdAt: clock.now() },
      options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false },
    });

  /** Simulates a worker that claims everything and then dies. Its leases expire. */
  const dieWithEverything = async (owner: string): Promise<void> => {
    await store.transcriptions.expireLive(clock.now());
    const now = clock.now();
    await store.transcriptions.claimLive({
      ...{ owner, now, leaseUntil: now + LEASE_MS, limit: 99 },
      supports: () => true,
    });
    clock.advance(LEASE_MS);
  };

  const work = async (workerId = 'w', changed: Partial<Store['transcriptions']> = {}): Promise<void> => {
    const own = await stage.open();
    const transcriptions: Store['transcriptions'] = {
      ...own.transcriptions,
      ...changed,
      listActiveLive: () => {
        reads += 1;
        return own.transcriptions.listActiveLive();
      },
    };
    const parts = { clock, ids: systemIds, log: collectingLog([]) };
    const worker = startLiveTranscriber({
      ...{ ...parts, workerId, concurrency: 1 },
      failLost: (lost) => failLostTranscriptions({ ...parts, store: own, dispatcher: NO_DISPATCHER }, lost),
      ...{ engine: testSpeech().engine, createDetector: () => testSpeech().createDetector(0.4, 'en') },
      spillFile: createAudioSpillFile(),
      store: { ...own, transcriptions },
      changes: own.changes,
      onRoomLeft: () => {},
      mediaServer: { listRooms: async (names = []) => names.map((name) => ({ name }) as never) },
      subscriber: {
        join: async ({ room }) => {
          joined.push(room);
          return { sendCaption: async () => {}, leave: async () => {} };
        },
        close: async () => {},
      },
    });
    workers.push(worker);
  };

  /** Polls while the clock advances in steps that are shorter than any pause of the worker. */
  const eventually = <T>(read: () => T | Promise<T>, stepMs = 50) =>
    expect.poll(
      async () => {
        clock.advance(stepMs);
        return await read();
      },
      { timeout: 60_000 },
    );
  const find = (id: string) => store.transcriptions.find(id);

  it('takes over from one that died', async () => {
    await start('tr_1');
    await dieWithEverything('dead 1');
    await work();
    await eventually(() => joined).toEqual(['room of tr_1']);
    expect(await find('tr_1')).toMatchObject({ status: 'active', leaseOwner: 'w', attempts: 1 });
  });

  it('does not claim a transcription that ended two workers: it fails with its reason and its event', async () => {
    await start('tr_1');
    await dieWithEverything('dead 1');
    await dieWithEverything('dead 2');
    await work();
    await eventually(async () => (await find('tr_1'))?.status).toBe('failed');
    expect(await find('tr_1')).toMatchObject({
      ...{ leaseOwner: null, errorCode: 'worker-lost' },
      errorMessage: expect.stringContaining('died'),
    });
    expect(joined).toEqual([]);
    const events = await store.events.list({ afterPosition: 0, limit: 10 });
    expect(events.map(({ type, payload }) => ({ type, ...JSON.parse(payload) }))).toMatchObject([
      {
        type: 'transcription_failed',
        transcription: {
          ...{ transcriptionId: 'tr_1', kind: 'live', status: 'failed', segmentCount: 0 },
          error: { code: 'worker-lost' },
        },
      },
    ]);
  });

  it('claims one at a time of those whose two workers died together, so that only the culprit fails', async () => {
    await start('tr_1');
    await start('tr_2');
    await dieWithEverything('dead 1');
    await dieWithEverything('dead 2');
    await work();
    await eventually(() => joined).toEqual(['room of tr_1']);
    expect(await find('tr_2')).toMatchObject({ status: 'active', leaseOwner: null });
    await eventually(() => joined, 1_000).toEqual(['room of tr_1', 'room of tr_2']);
    expect(clock.now()).toBeGreaterThanOrEqual(NOW + 2 * LEASE_MS + 60_000);
    await eventually(async () => (await find('tr_1'))?.attempts).toBe(0);
    expect(await find('tr_1')).toMatchObject({ status: 'active', leaseOwner: 'w' });
  });

  it('holds its rooms by leases of at most two seconds, which it renews continuously', async () => {
    await start('tr_1');
    const leases: number[] = [];
    const renewLive: Store['transcriptions']['renewLive'] = async (owner, leaseUntil) => {
      leases.push(leaseUntil - clock.now());
      await store.transcriptions.renewLive(owner, leaseUntil);
    };
    await work('w', { renewLive });
    await eventually(() => leases.length).toBeGreaterThan(10);
    expect(Math.max(...leases)).toBeLessThanOrEqual(LEASE_MS);
    expect(await find('tr_1')).toMatchObject({ leaseOwner: 'w', attempts: 0 });
  });

  it('claims nothing of another one at once after the whole machine was suspended', async () => {
    await start('tr_1');
    const now = clock.now();
    const claim = { owner: 'other', now, leaseUntil: now + LEASE_MS, limit: 1, supports: () => true };
    expect(await store.transcriptions.claimLive(claim)).toHaveLength(1);
    await work();
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.advance(60_000);
    // When it sleeps again, its round is over.
    await expect.poll(() => clock.sleeping).toBe(1);
    expect(await find('tr_1')).toMatchObject({ leaseOwner: 'other', attempts: 0 });
    await eventually(() => joined).toEqual(['room of tr_1']);
    expect(await find('tr_1')).toMatchObject({ leaseOwner: 'w', attempts: 1 });
  });

  it('is not counted as a loss of a transcription that it lost and survived', async () => {
    await start('tr_1');
    let isStuck = false;
    const stuck = Promise.withResolvers<void>();
    const renewLive: Store['transcriptions']['renewLive'] = async (owner, leaseUntil) => {
      if (isStuck) await stuck.promise;
      await store.transcriptions.renewLive(owner, leaseUntil);
    };
    await work('stuck', { renewLive });
    await eventually(() => joined).toHaveLength(1);
    isStuck = true;
    await work('successor');
    await eventually(async () => (await find('tr_1'))?.leaseOwner).toBe('successor');
    stuck.resolve();
    await eventually(async () => (await find('tr_1'))?.attempts).toBe(0);
    expect(await find('tr_1')).toMatchObject({ status: 'active', leaseOwner: 'successor' });
  });

  it('does not read the database while nothing changes, and is notified of a start elsewhere', async () => {
    await work();
    await expect.poll(() => reads).toBeGreaterThan(0);
    // A new listener reports everything as changed once, at any time.
    const before = reads;
    await letPass(clock, 25_000);
    expect(reads).toBeLessThanOrEqual(before + 2);
    await start('tr_1');
    await eventually(() => joined).toEqual(['room of tr_1']);
    expect(clock.now()).toBeLessThan(NOW + 30_000);
  });
});
