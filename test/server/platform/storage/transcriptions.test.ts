import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import {
  type LiveClaim,
  MAX_LIVE_LOSSES,
  type NewLiveTranscription,
  type NewPostTranscription,
  type StoredSegment,
  type Transcription,
  type TranscriptionStore,
  type WorkerBeat,
} from '../../../../src/server/transcription/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

describe.each(DATABASES)('transcriptions on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;
  let transcriptions: TranscriptionStore;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
    transcriptions = store.transcriptions;
  });
  afterEach(() => testDatabase.close());

  const openMany = (count: number): Promise<readonly Store[]> =>
    Promise.all(Array.from({ length: count }, () => testDatabase.open()));

  describe('a live transcription', () => {
    it('begins active, without further facts', async () => {
      const options = { partialResults: true, captions: true, punctuation: false, profanityFilter: true };
      const started = await transcriptions.startLive(live('tr_1', { speakers: { ada: 'Ada' }, options }));
      const transcription: Transcription = {
        id: 'tr_1',
        kind: 'live',
        room: 'demo',
        roomSid: null,
        recordingId: null,
        egressId: null,
        status: 'active',
        language: 'en-US',
        speakers: { ada: 'Ada' },
        options,
        leaseOwner: null,
        leaseUntil: null,
        dueAt: null,
        attempts: 0,
        progress: 0,
        durationMs: null,
        errorCode: null,
        errorMessage: null,
        createdAt: 1000,
        originAt: 1000,
        startedAt: null,
        endedAt: null,
      };
      expect(started).toEqual({ transcription, isNew: true });
      expect(await transcriptions.find('tr_1')).toEqual(transcription);
      expect(await transcriptions.findActiveLive('demo')).toEqual(transcription);
      expect(await transcriptions.findLatestLive('demo')).toEqual(transcription);
      expect(await transcriptions.listActiveLive()).toEqual([transcription]);
    });

    it('is the only active one of its room, and a second start returns it', async () => {
      const { transcription } = await transcriptions.startLive(live('tr_1'));
      const second = await transcriptions.startLive(live('tr_2', { language: 'it-IT' }));
      expect(second).toEqual({ transcription, isNew: false });
      expect(await transcriptions.find('tr_2')).toBeUndefined();
    });

    it('is started by one of 50 concurrent starts on five instances', async () => {
      const stores = await openMany(5);
      const started = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          (stores[n % 5] ?? store).transcriptions.startLive(live(`tr_${n}`)),
        ),
      );
      expect(started.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(new Set(started.map(({ transcription }) => transcription.id)).size).toBe(1);
      expect(await transcriptions.listActiveLive()).toHaveLength(1);
    });

    it('stops once, and its room may start another', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.claimLive(claim({ owner: 'a' }));
      const stopped = await transcriptions.stopLive('tr_1', 5000);
      expect(stopped).toMatchObject({
        status: 'stopped',
        endedAt: 5000,
        leaseOwner: null,
        leaseUntil: null,
      });
      expect(await transcriptions.stopLive('tr_1', 6000)).toBeUndefined();
      expect(await transcriptions.findActiveLive('demo')).toBeUndefined();
      expect(await transcriptions.findLatestLive('demo')).toMatchObject({ id: 'tr_1', endedAt: 5000 });
      expect((await transcriptions.startLive(live('tr_2', { createdAt: 7000 }))).isNew).toBe(true);
      expect(await transcriptions.findLatestLive('demo')).toMatchObject({ id: 'tr_2' });
    });

    it('is found by the exact name of its room', async () => {
      await transcriptions.startLive(live('tr_1', { room: 'Caffè \u0000 ☕' }));
      expect(await transcriptions.findActiveLive('Caffè \u0000 ☕')).toMatchObject({ id: 'tr_1' });
      expect(await transcriptions.findActiveLive('caffè \u0000 ☕')).toBeUndefined();
      expect(await transcriptions.findLatestLive('Caffe')).toBeUndefined();
    });

    it('is claimed by one worker until its lease has expired', async () => {
      await transcriptions.startLive(live('tr_1'));
      const first = await transcriptions.claimLive(claim({ owner: 'a', now: 2000, leaseUntil: 3000 }));
      expect(first).toMatchObject([{ id: 'tr_1', leaseOwner: 'a', leaseUntil: 3000, status: 'active' }]);
      expect(await transcriptions.expireLive(2999)).toBe(0);
      expect(await transcriptions.claimLive(claim({ owner: 'b', now: 2999 }))).toEqual([]);
      expect(await transcriptions.expireLive(3000)).toBe(1);
      expect(
        await transcriptions.claimLive(claim({ owner: 'b', now: 3000, leaseUntil: 4000 })),
      ).toMatchObject([{ id: 'tr_1', leaseOwner: 'b', leaseUntil: 4000, attempts: 1 }]);
    });

    it('is claimed at once after its worker has released it', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.claimLive(claim({ owner: 'a' }));
      await transcriptions.release('tr_1', 'b');
      expect(await transcriptions.claimLive(claim({ owner: 'b' }))).toEqual([]);
      await transcriptions.release('tr_1', 'a');
      expect(await transcriptions.claimLive(claim({ owner: 'b' }))).toMatchObject([{ leaseOwner: 'b' }]);
    });

    it('is left to a worker of its language', async () => {
      await transcriptions.startLive(live('tr_1', { language: 'it-IT' }));
      await transcriptions.startLive(live('tr_2', { room: 'other' }));
      const english = claim({ supports: (language) => language.startsWith('en') });
      expect(await transcriptions.claimLive(english)).toMatchObject([{ id: 'tr_2' }]);
      expect(await transcriptions.claimLive(claim({ owner: 'b' }))).toMatchObject([{ id: 'tr_1' }]);
    });

    it('is taken from a worker whose lease has expired, with everything that this worker held', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.startLive(live('tr_2', { room: 'two', createdAt: 1001 }));
      await transcriptions.startLive(live('tr_3', { room: 'three', createdAt: 1002 }));
      await transcriptions.claimLive(claim({ owner: 'a', leaseUntil: 3000 }));
      await transcriptions.claimLive(claim({ owner: 'a', leaseUntil: 4000 }));
      await transcriptions.claimLive(claim({ owner: 'b', leaseUntil: 4000 }));
      expect(await transcriptions.expireLive(3000)).toBe(2);
      expect(await transcriptions.listActiveLive()).toMatchObject([
        { id: 'tr_1', leaseOwner: null, leaseUntil: null, attempts: 1 },
        { id: 'tr_2', leaseOwner: null, leaseUntil: null, attempts: 1 },
        { id: 'tr_3', leaseOwner: 'b', attempts: 0 },
      ]);
    });

    it('counts as lost for good when it was the only one of two workers that died', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.claimLive(claim({ owner: 'a' }));
      await transcriptions.expireLive(3000);
      await transcriptions.claimLive(claim({ owner: 'b' }));
      await transcriptions.expireLive(3000);
      expect(await transcriptions.find('tr_1')).toMatchObject({ attempts: MAX_LIVE_LOSSES });
      expect(await transcriptions.claimLive(claim({ owner: 'c' }))).toEqual([]);
    });

    it('is only suspected when two workers that died held others too, and is cleared by one that survives', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.startLive(live('tr_2', { room: 'two' }));
      for (const owner of ['a', 'b']) {
        await transcriptions.claimLive(claim({ owner, limit: 2 }));
        await transcriptions.expireLive(3000);
      }
      expect(await transcriptions.listActiveLive()).toMatchObject([{ attempts: 2 }, { attempts: 2 }]);
      expect(await transcriptions.claimLive(claim({ owner: 'c', attemptsBelow: 2 }))).toEqual([]);
      expect(await transcriptions.claimLive(claim({ owner: 'c' }))).toMatchObject([{ id: 'tr_1' }]);
      await transcriptions.resetLosses('tr_1', 'b');
      expect(await transcriptions.find('tr_1')).toMatchObject({ attempts: 2 });
      await transcriptions.resetLosses('tr_1', 'c');
      expect(await transcriptions.find('tr_1')).toMatchObject({ attempts: 0 });
    });

    it('has one loss less when its former worker is still alive', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.claimLive(claim({ owner: 'a' }));
      await transcriptions.subtractLoss('tr_1');
      expect(await transcriptions.find('tr_1')).toMatchObject({ attempts: 0 });
      await transcriptions.expireLive(3000);
      await transcriptions.claimLive(claim({ owner: 'b' }));
      await transcriptions.subtractLoss('tr_1');
      expect(await transcriptions.find('tr_1')).toMatchObject({ attempts: 0, leaseOwner: 'b' });
    });

    it('fails once, keeps its segments, and its room may start another', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.claimLive(claim({ owner: 'a' }));
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_1')]);
      const failure = { endedAt: 5000, errorCode: 'worker-lost', errorMessage: 'They died.' };
      expect(await transcriptions.failLive('tr_1', failure)).toMatchObject({
        ...{ status: 'failed', leaseOwner: null, leaseUntil: null },
        ...failure,
      });
      expect(await transcriptions.failLive('tr_1', failure)).toBeUndefined();
      expect(await transcriptions.stopLive('tr_1', 6000)).toBeUndefined();
      expect(await transcriptions.addSegments('tr_1', 'a', [segment('seg_2')])).toBe(false);
      expect(await transcriptions.countSegments('tr_1')).toBe(1);
      expect((await transcriptions.startLive(live('tr_2'))).isNew).toBe(true);
    });

    it('wakes workers of other processes when it is started, released, stopped or deleted', async () => {
      const worker = await testDatabase.open();
      let changes = 0;
      worker.changes.subscribe('transcriptions', () => {
        changes += 1;
      });
      const changesAfter = async (change: () => Promise<unknown>): Promise<void> => {
        const before = changes;
        await change();
        await expect.poll(() => changes).toBeGreaterThan(before);
      };
      // A new listener first reports everything as changed.
      let rooms = 0;
      await expect
        .poll(async () => {
          rooms += 1;
          await transcriptions.startLive(live(`tr_room_${rooms}`, { room: `room ${rooms}`, language: 'fr' }));
          return changes;
        })
        .toBeGreaterThan(0);
      await changesAfter(() => transcriptions.startLive(live('tr_1')));
      const isEnglish = (language: string) => language === 'en-US';
      await transcriptions.claimLive(claim({ owner: 'a', supports: isEnglish }));
      await changesAfter(() => transcriptions.release('tr_1', 'a'));
      await changesAfter(() => transcriptions.stopLive('tr_1', 5000));
      await changesAfter(() => transcriptions.delete('tr_1'));
      await changesAfter(() => transcriptions.enqueuePost(post('tr_2')));
    });

    it('is claimed by one of five concurrent instances, each of which gets another one', async () => {
      for (let n = 0; n < 20; n++) await transcriptions.startLive(live(`tr_${n}`, { room: `room ${n}` }));
      const stores = await openMany(5);
      const claimed = await Promise.all(
        stores.map((one, n) => one.transcriptions.claimLive(claim({ owner: `worker ${n}`, limit: 20 }))),
      );
      const ids = claimed.flat().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const rest = await transcriptions.claimLive(claim({ owner: 'rest', limit: 20 }));
      expect(ids.length + rest.length).toBe(20);
    });

    it('is claimed with the oldest first, up to the limit', async () => {
      for (const [id, createdAt] of [
        ['tr_c', 3000],
        ['tr_a', 1000],
        ['tr_b', 2000],
      ] as const) {
        await transcriptions.startLive(live(id, { room: id, createdAt }));
      }
      const claimed = await transcriptions.claimLive(claim({ now: 5000, leaseUntil: 9000, limit: 2 }));
      expect(claimed.map(({ id }) => id)).toEqual(['tr_a', 'tr_b']);
    });
  });

  describe('a lease', () => {
    it('is prolonged only by its owner, even after it expired, until another worker has it', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.claimLive(claim({ owner: 'a', now: 2000, leaseUntil: 3000 }));
      expect(await transcriptions.renew('tr_1', 'b', 9000)).toBe(false);
      expect(await transcriptions.renew('tr_1', 'a', 9000)).toBe(true);
      expect(await transcriptions.expireLive(8999)).toBe(0);
      await transcriptions.expireLive(9000);
      await transcriptions.claimLive(claim({ owner: 'b', now: 9000, leaseUntil: 10_000 }));
      expect(await transcriptions.renew('tr_1', 'a', 20_000)).toBe(false);
    });

    it('is prolonged with all others of its worker', async () => {
      for (const [id, owner] of [
        ['tr_1', 'a'],
        ['tr_2', 'a'],
        ['tr_3', 'b'],
      ] as const) {
        await transcriptions.startLive(live(id, { room: id }));
        await transcriptions.claimLive(claim({ owner, now: 2000, leaseUntil: 3000 }));
      }
      await transcriptions.stopLive('tr_2', 2500);
      await transcriptions.renewLive('a', 9000);
      const leases = await Promise.all(['tr_1', 'tr_2', 'tr_3'].map((id) => transcriptions.find(id)));
      expect(leases.map((one) => one?.leaseUntil)).toEqual([9000, null, 3000]);
    });

    it('cannot be prolonged once the transcription was stopped', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.claimLive(claim({ owner: 'a' }));
      await transcriptions.stopLive('tr_1', 2500);
      expect(await transcriptions.renew('tr_1', 'a', 9000)).toBe(false);
    });
  });

  describe('a post-call transcription', () => {
    it('begins queued, due at once', async () => {
      const queued = await transcriptions.enqueuePost(post('tr_1', { speakers: { x: 'Ada' } }));
      expect(queued).toMatchObject({
        isNew: true,
        transcription: {
          kind: 'post',
          status: 'queued',
          room: 'demo',
          recordingId: 'rec_1',
          egressId: 'EG_1',
          dueAt: 1000,
          createdAt: 1000,
          originAt: 500,
          attempts: 0,
          speakers: { x: 'Ada' },
        },
      });
      expect(await transcriptions.find('tr_1')).toEqual(queued.transcription);
    });

    it('is unique per recording and language, until it has failed', async () => {
      const first = await transcriptions.enqueuePost(post('tr_1'));
      expect(await transcriptions.enqueuePost(post('tr_2'))).toEqual({ ...first, isNew: false });
      expect((await transcriptions.enqueuePost(post('tr_3', { language: 'it-IT' }))).isNew).toBe(true);
      expect((await transcriptions.enqueuePost(post('tr_4', { recordingId: 'rec_2' }))).isNew).toBe(true);
      await transcriptions.claimPost(claim({ owner: 'a', limit: 9 }));
      expect((await transcriptions.enqueuePost(post('tr_5'))).transcription.id).toBe('tr_1');
      await transcriptions.recordPostOutcome('tr_1', 'a', failed);
      expect((await transcriptions.enqueuePost(post('tr_6'))).transcription.id).toBe('tr_6');
      await transcriptions.claimPost(claim({ owner: 'a', limit: 9 }));
      await transcriptions.recordPostOutcome('tr_6', 'a', {
        status: 'completed',
        endedAt: 5000,
        durationMs: 4000,
      });
      expect((await transcriptions.enqueuePost(post('tr_7'))).transcription.id).toBe('tr_6');
    });

    it('is queued by one of 50 concurrent requests on five instances', async () => {
      const stores = await openMany(5);
      const queued = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          (stores[n % 5] ?? store).transcriptions.enqueuePost(post(`tr_${n}`)),
        ),
      );
      expect(queued.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(await transcriptions.listNewest({ kind: 'post', limit: 100 })).toHaveLength(1);
    });

    it('is claimed when it is due, and is processing then', async () => {
      await transcriptions.enqueuePost(post('tr_1', { createdAt: 1000 }));
      expect(await transcriptions.claimPost(claim({ now: 999 }))).toEqual([]);
      expect(
        await transcriptions.claimPost(claim({ owner: 'a', now: 1000, leaseUntil: 2000 })),
      ).toMatchObject([
        { status: 'processing', leaseOwner: 'a', leaseUntil: 2000, attempts: 1, startedAt: 1000 },
      ]);
      expect(await transcriptions.claimPost(claim({ now: 1999 }))).toEqual([]);
    });

    it('is taken over when its lease has expired, which counts as an attempt', async () => {
      await transcriptions.enqueuePost(post('tr_1'));
      await transcriptions.claimPost(claim({ owner: 'a', now: 1000, leaseUntil: 2000 }));
      expect(
        await transcriptions.claimPost(claim({ owner: 'b', now: 2000, leaseUntil: 3000 })),
      ).toMatchObject([{ leaseOwner: 'b', attempts: 2, startedAt: 1000 }]);
      expect(await transcriptions.advancePost('tr_1', 'a', { progress: 0.5, leaseUntil: 9000 })).toBe(false);
      expect(await transcriptions.recordPostOutcome('tr_1', 'a', failed)).toBe(false);
      expect(await transcriptions.find('tr_1')).toMatchObject({ status: 'processing', progress: 0 });
    });

    it('is queued again when it is released, and the attempt does not count', async () => {
      await transcriptions.enqueuePost(post('tr_1'));
      await transcriptions.claimPost(claim({ owner: 'a' }));
      await transcriptions.release('tr_1', 'a');
      expect(await transcriptions.find('tr_1')).toMatchObject({
        status: 'queued',
        attempts: 0,
        leaseOwner: null,
      });
      expect(await transcriptions.claimPost(claim({ owner: 'b' }))).toMatchObject([{ attempts: 1 }]);
    });

    it('stores its progress, which prolongs the lease', async () => {
      await transcriptions.enqueuePost(post('tr_1'));
      await transcriptions.claimPost(claim({ owner: 'a', now: 1000, leaseUntil: 2000 }));
      const halfway = { progress: 0.375, durationMs: 4000, leaseUntil: 5000 };
      expect(await transcriptions.advancePost('tr_1', 'a', halfway)).toBe(true);
      expect(await transcriptions.find('tr_1')).toMatchObject(halfway);
      await transcriptions.advancePost('tr_1', 'a', { progress: 0.5, leaseUntil: 6000 });
      expect(await transcriptions.find('tr_1')).toMatchObject({ progress: 0.5, durationMs: 4000 });
    });

    it('waits for its next attempt, with its last error', async () => {
      await transcriptions.enqueuePost(post('tr_1'));
      await transcriptions.claimPost(claim({ owner: 'a' }));
      const again = {
        status: 'queued',
        dueAt: 8000,
        errorCode: 'storage-unavailable',
        errorMessage: 'No\0.',
      } as const;
      expect(await transcriptions.recordPostOutcome('tr_1', 'a', again)).toBe(true);
      expect(await transcriptions.find('tr_1')).toMatchObject({
        ...again,
        errorMessage: 'No\uFFFD.',
        leaseOwner: null,
        leaseUntil: null,
        attempts: 1,
      });
      expect(await transcriptions.claimPost(claim({ now: 7999 }))).toEqual([]);
      expect(await transcriptions.claimPost(claim({ now: 8000, leaseUntil: 9000 }))).toMatchObject([
        { attempts: 2 },
      ]);
    });

    it('ends completed, without the error of an earlier attempt', async () => {
      await transcriptions.enqueuePost(post('tr_1'));
      await transcriptions.claimPost(claim({ owner: 'a' }));
      await transcriptions.recordPostOutcome('tr_1', 'a', { ...failed, status: 'queued', dueAt: 1 });
      await transcriptions.claimPost(claim({ owner: 'a' }));
      const completed = { status: 'completed', endedAt: 9000, durationMs: 4000 } as const;
      expect(await transcriptions.recordPostOutcome('tr_1', 'b', completed)).toBe(false);
      expect(await transcriptions.recordPostOutcome('tr_1', 'a', completed)).toBe(true);
      expect(await transcriptions.recordPostOutcome('tr_1', 'a', completed)).toBe(false);
      expect(await transcriptions.find('tr_1')).toMatchObject({
        ...completed,
        progress: 1,
        errorCode: null,
        errorMessage: null,
        leaseOwner: null,
      });
    });

    it('is not live, and is not listed with live ones', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.enqueuePost(post('tr_2'));
      expect((await transcriptions.listNewest({ kind: 'post', limit: 9 })).map(({ id }) => id)).toEqual([
        'tr_2',
      ]);
      expect(await transcriptions.claimPost(claim({ limit: 9 }))).toMatchObject([{ id: 'tr_2' }]);
      expect(await transcriptions.claimLive(claim({ limit: 9 }))).toMatchObject([{ id: 'tr_1' }]);
      await transcriptions.stopLive('tr_1', 1);
      expect(await transcriptions.findLatestLive('demo')).toMatchObject({ id: 'tr_1' });
    });

    it('has a time for each language when the next can be claimed', async () => {
      await transcriptions.enqueuePost(post('tr_1', { createdAt: 4000 }));
      await transcriptions.enqueuePost(post('tr_2', { recordingId: 'rec_2', createdAt: 1000 }));
      await transcriptions.enqueuePost(post('tr_3', { language: 'it', createdAt: 2500 }));
      const due = async () =>
        (await transcriptions.listPostDue()).toSorted((one, other) => one.dueAt - other.dueAt);
      expect(await due()).toEqual([
        { language: 'en-US', dueAt: 1000 },
        { language: 'it', dueAt: 2500 },
      ]);
      await transcriptions.claimPost(claim({ owner: 'a', now: 2000, leaseUntil: 3000 }));
      expect(await due()).toEqual([
        { language: 'it', dueAt: 2500 },
        { language: 'en-US', dueAt: 3000 },
      ]);
    });
  });

  describe('a list of transcriptions', () => {
    const rows = [
      ['tr_a', 1000, 'demo', 1],
      ['tr_b', 2000, 'other', 2],
      ['tr_c', 2000, 'demo', 3],
      ['tr_d', 3000, 'demo', 4],
    ] as const;
    beforeEach(async () => {
      for (const [id, createdAt, room, n] of rows) {
        const recording = { recordingId: `rec_${n}`, egressId: `EG_${n}` };
        await transcriptions.enqueuePost(post(id, { createdAt, room, ...recording }));
      }
    });
    const listIds = (listed: readonly Transcription[]) => listed.map(({ id }) => id);

    it('has the newest first, in pages that continue after a row', async () => {
      const first = await transcriptions.listNewest({ kind: 'post', limit: 2 });
      expect(listIds(first)).toEqual(['tr_d', 'tr_c']);
      expect(listIds(await transcriptions.listNewest({ kind: 'post', limit: 9, after: first[1] }))).toEqual([
        'tr_b',
        'tr_a',
      ]);
    });

    it('is filtered by room, egress and status', async () => {
      await transcriptions.claimPost(claim({ now: 1000 }));
      expect(listIds(await transcriptions.listNewest({ kind: 'post', limit: 9, room: 'demo' }))).toEqual([
        'tr_d',
        'tr_c',
        'tr_a',
      ]);
      expect(listIds(await transcriptions.listNewest({ kind: 'post', limit: 9, egressId: 'EG_2' }))).toEqual([
        'tr_b',
      ]);
      expect(
        listIds(await transcriptions.listNewest({ kind: 'post', limit: 9, status: 'processing' })),
      ).toEqual(['tr_a']);
      expect(
        await transcriptions.listNewest({ kind: 'post', limit: 9, room: 'other', status: 'processing' }),
      ).toEqual([]);
    });
  });

  it('lists transcriptions that ended before an instant, the oldest end first', async () => {
    for (const [id, endedAt] of [
      ['tr_b', 3000],
      ['tr_a', 2000],
      ['tr_c', 4000],
    ] as const) {
      await transcriptions.startLive(live(id));
      await transcriptions.stopLive(id, endedAt);
    }
    await transcriptions.startLive(live('tr_running'));
    await transcriptions.enqueuePost(post('tr_queued'));
    expect(await transcriptions.listEnded(4000, 9)).toEqual(['tr_a', 'tr_b']);
    expect(await transcriptions.listEnded(4000, 1)).toEqual(['tr_a']);
  });

  describe('speakers', () => {
    it('are merged, and removed by null', async () => {
      await transcriptions.startLive(live('tr_1', { speakers: { a: 'Ada', b: 'Bob' } }));
      const changed = await transcriptions.updateSpeakers('tr_1', { a: null, c: 'Cy "☕"' });
      expect(changed?.speakers).toEqual({ b: 'Bob', c: 'Cy "☕"' });
      expect((await transcriptions.find('tr_1'))?.speakers).toEqual({ b: 'Bob', c: 'Cy "☕"' });
      expect(await transcriptions.updateSpeakers('tr_2', {})).toBeUndefined();
    });

    it('are complete after 20 concurrent changes', async () => {
      await transcriptions.startLive(live('tr_1'));
      const stores = await openMany(4);
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (stores[n % 4] ?? store).transcriptions.updateSpeakers('tr_1', { [`key ${n}`]: `name ${n}` }),
        ),
      );
      expect(Object.keys((await transcriptions.find('tr_1'))?.speakers ?? {})).toHaveLength(20);
    });
  });

  describe('segments', () => {
    beforeEach(async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.claimLive(claim({ owner: 'a', leaseUntil: 3000 }));
    });

    it('are listed by their start, then id, as they were stored', async () => {
      const given = [
        segment('seg_2', { startedAt: 2000, confidence: 0.625, name: 'Ada', identity: 'ada' }),
        segment('seg_3', { startedAt: 1000 }),
        segment('seg_1', { startedAt: 2000, text: 'Zero\u0000 and \ud800.' }),
      ];
      expect(await transcriptions.addSegments('tr_1', 'a', given)).toBe(true);
      expect(await transcriptions.listSegments('tr_1', { limit: 1000 })).toEqual([
        given[1],
        { ...given[2], text: 'Zero\uFFFD and \uFFFD.' },
        given[0],
      ]);
      expect(await transcriptions.countSegments('tr_1')).toBe(3);
      expect(await transcriptions.countSegments('tr_2')).toBe(0);
    });

    it('keep the words with their times, if there are any', async () => {
      const words = [
        { text: 'Good', startedAt: 1000, endedAt: 1200, confidence: 0.5 },
        { text: 'morning\ud800.', startedAt: 1200, endedAt: 1700, confidence: null },
      ];
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_1', { words }), segment('seg_2')]);
      const [timed, plain] = await transcriptions.listSegments('tr_1', { limit: 1000 });
      expect(timed?.words).toEqual([words[0], { ...words[1], text: 'morning\uFFFD.' }]);
      expect(plain).not.toHaveProperty('words');
      expect((await transcriptions.listStored('tr_1', { after: 0, limit: 9 })).segments).toEqual([
        timed,
        plain,
      ]);
    });

    it('are counted by participant, including those of low confidence', async () => {
      const confidences = [null, 0.1, 0.36, 0.37, 1];
      const given = confidences.map((confidence, n) =>
        segment(`seg_${n}`, { identity: n === 4 ? 'bob' : 'ada', confidence }),
      );
      await transcriptions.addSegments('tr_1', 'a', given);
      expect(await transcriptions.listQualities('tr_1')).toEqual([
        { identity: 'ada', segments: 4, doubtful: 2 },
        { identity: 'bob', segments: 1, doubtful: 0 },
      ]);
      expect(await transcriptions.listQualities('tr_2')).toEqual([]);
    });

    it('are judged by the latest thousand only', async () => {
      const given = Array.from({ length: 1001 }, (_, n) =>
        segment(`seg_${String(n).padStart(4, '0')}`, { identity: 'ada', confidence: n < 3 ? 0.1 : 0.9 }),
      );
      await transcriptions.addSegments('tr_1', 'a', given);
      expect(await transcriptions.listQualities('tr_1')).toEqual([
        { identity: 'ada', segments: 1000, doubtful: 2 },
      ]);
    });

    it('are read page by page, by their start or in the order of storing', async () => {
      const starts = [3000, 1000, 2000, 1000, 3000];
      const given = starts.map((startedAt, n) => segment(`seg_${n}`, { startedAt }));
      await transcriptions.addSegments('tr_1', 'a', given);
      const ids = (found: readonly StoredSegment[]) => found.map(({ id }) => id);
      const first = await transcriptions.listSegments('tr_1', { limit: 2 });
      const second = await transcriptions.listSegments('tr_1', { after: first.at(-1), limit: 2 });
      const third = await transcriptions.listSegments('tr_1', { after: second.at(-1), limit: 2 });
      expect([first, second, third].map(ids)).toEqual([['seg_1', 'seg_3'], ['seg_2', 'seg_0'], ['seg_4']]);
      const early = await transcriptions.listStored('tr_1', { after: 0, limit: 3 });
      expect(ids(early.segments)).toEqual(['seg_0', 'seg_1', 'seg_2']);
      const late = await transcriptions.listStored('tr_1', { after: early.position, limit: 3 });
      expect(ids(late.segments)).toEqual(['seg_3', 'seg_4']);
      expect(await transcriptions.listStored('tr_1', { after: late.position, limit: 3 })).toEqual({
        segments: [],
        position: late.position,
      });
    });

    it('tell whether one of them is of a known track', async () => {
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_1', { trackId: null })]);
      expect(await transcriptions.hasTracks('tr_1')).toBe(false);
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_2', { trackId: 'TR_1' })]);
      expect(await transcriptions.hasTracks('tr_1')).toBe(true);
    });

    it('are stored once, even when they are sent twice', async () => {
      const given = Array.from({ length: 250 }, (_, n) => segment(`seg_${n}`));
      await transcriptions.addSegments('tr_1', 'a', given.slice(0, 150));
      expect(await transcriptions.addSegments('tr_1', 'a', given)).toBe(true);
      expect(await transcriptions.countSegments('tr_1')).toBe(250);
    });

    it.each([
      ['before it', 1999, ['seg_1']],
      ['at it', 2000, []],
      ['after it', 2001, []],
    ])('are listed when they end after the instant: one %s', async (_case, endsAfter, ids) => {
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_1', { endedAt: 2000 })]);
      const listed = await transcriptions.listStored('tr_1', { after: 0, endsAfter, limit: 9 });
      expect(listed.segments.map(({ id }) => id)).toEqual(ids);
    });

    it('are listed in the order of storing after a position, and readers are notified of them', async () => {
      let notices = 0;
      const unsubscribe = store.changes.subscribe('segments', () => {
        notices += 1;
      });
      const stored = (after: number) => transcriptions.listStored('tr_1', { after, limit: 9 });
      expect(await stored(0)).toEqual({ segments: [], position: 0 });
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_2', { startedAt: 2000 })]);
      expect(notices).toBeGreaterThanOrEqual(1);
      const first = await stored(0);
      expect(first.segments.map(({ id }) => id)).toEqual(['seg_2']);
      expect(await transcriptions.hasStoredAfter('tr_1', 0)).toBe(true);
      expect(await transcriptions.hasStoredAfter('tr_1', first.position)).toBe(false);
      expect(await transcriptions.hasStoredAfter('tr_2', 0)).toBe(false);
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_1', { startedAt: 1000, endedAt: 1500 })]);
      const second = await stored(first.position);
      expect(second.segments.map(({ id }) => id)).toEqual(['seg_1']);
      expect((await stored(0)).segments.map(({ id }) => id)).toEqual(['seg_2', 'seg_1']);
      expect(await stored(second.position)).toEqual({ segments: [], position: second.position });
      const late = await transcriptions.listStored('tr_1', { after: 0, endsAfter: 1500, limit: 9 });
      expect(late).toMatchObject({ segments: [{ id: 'seg_2' }], position: second.position });
      const before = notices;
      await transcriptions.stopLive('tr_1', 5000);
      expect(notices).toBeGreaterThan(before);
      unsubscribe();
    });

    it('are refused from everyone except the owner of the lease', async () => {
      expect(await transcriptions.addSegments('tr_1', 'b', [segment('seg_1')])).toBe(false);
      expect(await transcriptions.addSegments('tr_2', 'a', [segment('seg_1')])).toBe(false);
      await transcriptions.expireLive(3000);
      await transcriptions.claimLive(claim({ owner: 'b', now: 3000 }));
      expect(await transcriptions.addSegments('tr_1', 'a', [segment('seg_1')])).toBe(false);
      expect(await transcriptions.addSegments('tr_1', 'b', [segment('seg_2')])).toBe(true);
      expect((await transcriptions.listSegments('tr_1', { limit: 1000 })).map(({ id }) => id)).toEqual([
        'seg_2',
      ]);
    });

    it('are refused once the transcription was stopped, so that their count is exact', async () => {
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_1')]);
      await transcriptions.stopLive('tr_1', 5000);
      expect(await transcriptions.addSegments('tr_1', 'a', [segment('seg_2')])).toBe(false);
      expect(await transcriptions.countSegments('tr_1')).toBe(1);
    });

    it('are counted or refused during a concurrent stop, never lost', async () => {
      const other = await testDatabase.open();
      const adding = Array.from({ length: 20 }, (_, n) =>
        transcriptions.addSegments('tr_1', 'a', [segment(`seg_${n}`)]),
      );
      const counting = other.transaction(async (within) => {
        await within.transcriptions.stopLive('tr_1', 5000);
        return within.transcriptions.countSegments('tr_1');
      });
      const taken = (await Promise.all(adding)).filter(Boolean).length;
      expect(await counting).toBe(taken);
      expect(await transcriptions.countSegments('tr_1')).toBe(taken);
    });

    it('of an abandoned attempt are dropped by the next worker', async () => {
      await transcriptions.enqueuePost(post('tr_2'));
      await transcriptions.claimPost(claim({ owner: 'a', leaseUntil: 3000 }));
      await transcriptions.addSegments('tr_2', 'a', [segment('seg_1')]);
      expect(await transcriptions.clearSegments('tr_2', 'b')).toBe(false);
      await transcriptions.claimPost(claim({ owner: 'b', now: 3000 }));
      expect(await transcriptions.clearSegments('tr_2', 'b')).toBe(true);
      expect(await transcriptions.countSegments('tr_2')).toBe(0);
    });

    it('are deleted in parts of a transcription that is not active', async () => {
      const many = Array.from({ length: 25 }, (_, index) => segment(`seg_${index}`));
      await transcriptions.addSegments('tr_1', 'a', many);
      expect(await transcriptions.deleteSegments('tr_1', 10)).toBe(0);
      await transcriptions.stopLive('tr_1', 5000);
      expect(await transcriptions.deleteSegments('tr_2', 10)).toBe(0);
      for (const [deleted, left] of [
        [10, 15],
        [10, 5],
        [5, 0],
        [0, 0],
      ]) {
        expect(await transcriptions.deleteSegments('tr_1', 10)).toBe(deleted);
        expect(await transcriptions.countSegments('tr_1')).toBe(left);
      }
      expect(await transcriptions.find('tr_1')).toBeDefined();
    });

    it('are deleted with their transcription, and no others are', async () => {
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_1')]);
      await transcriptions.startLive(live('tr_2', { room: 'other' }));
      await transcriptions.claimLive(claim({ owner: 'b' }));
      await transcriptions.addSegments('tr_2', 'b', [segment('seg_2')]);
      expect(await transcriptions.delete('tr_1')).toBe(true);
      expect(await transcriptions.delete('tr_1')).toBe(false);
      expect(await transcriptions.find('tr_1')).toBeUndefined();
      expect(await transcriptions.countSegments('tr_1')).toBe(0);
      expect(await transcriptions.addSegments('tr_1', 'a', [segment('seg_3')])).toBe(false);
      expect(await transcriptions.countSegments('tr_2')).toBe(1);
    });
  });

  describe('a worker', () => {
    const english: WorkerBeat = {
      ...({ kind: 'stt-live', workerId: 'a', languages: ['en', 'it'], aliveUntil: 2000 } as const),
      failedModels: [{ language: 'de', reason: 'It has no \u0000 tokens.' }],
    };

    it.each([
      [1999, true],
      [2000, false],
      [2001, false],
    ])('whose heartbeat lasts until 2000 is alive at %i: %s', async (now, isAlive) => {
      await transcriptions.beat(english);
      const { kind, languages, failedModels } = english;
      expect(await transcriptions.listAlive(now)).toEqual(isAlive ? [{ kind, languages, failedModels }] : []);
    });

    it('is alive while it sends heartbeats, with the last reported state', async () => {
      await transcriptions.beat(english);
      const later = { kind: 'stt-live', languages: ['de'], failedModels: [] } as const;
      await transcriptions.beat({ ...later, workerId: 'a', aliveUntil: 5000 });
      expect(await transcriptions.listAlive(4999)).toEqual([later]);
      await transcriptions.retire('a');
      expect(await transcriptions.listAlive(1000)).toEqual([]);
    });

    it('keeps one interim result per track while its owner holds the lease', async () => {
      await transcriptions.startLive(live('tr_1'));
      await transcriptions.claimLive(claim({ owner: 'a', leaseUntil: 9000 }));
      const put = (owner: string, segments: readonly StoredSegment[], updatedAt = 2000) =>
        transcriptions.putInterims('tr_1', owner, { segments, updatedAt });
      const bob = segment('seg_2', { trackId: 'TR_bob', startedAt: 3000 });
      expect(await put('b', [segment('seg_1')])).toBe(false);
      expect(await put('a', [bob, segment('seg_1', { trackId: 'TR_ada', text: 'one' })])).toBe(true);
      expect(await put('a', [segment('seg_1', { trackId: 'TR_ada', text: 'one two' })], 2500)).toBe(true);
      expect(await transcriptions.listInterims('tr_1', 1999)).toEqual([
        segment('seg_1', { trackId: 'TR_ada', text: 'one two' }),
        bob,
      ]);
      expect(await transcriptions.listInterims('tr_1', 2000)).toMatchObject([{ id: 'seg_1' }]);
      await transcriptions.addSegments('tr_1', 'a', [segment('seg_1')]);
      expect(await transcriptions.listInterims('tr_1', 0)).toEqual([bob]);
      expect(await transcriptions.countSegments('tr_1')).toBe(1);
      await transcriptions.stopLive('tr_1', 5000);
      expect(await transcriptions.listInterims('tr_1', 0)).toEqual([]);
      expect(await put('a', [bob])).toBe(false);
    });
  });
});

const failed = {
  status: 'failed',
  endedAt: 3000,
  errorCode: 'not-media',
  errorMessage: 'No media.',
} as const;

function live(id: string, changes: Partial<NewLiveTranscription> = {}): NewLiveTranscription {
  const options = { partialResults: false, captions: true, punctuation: true, profanityFilter: false };
  return { id, room: 'demo', language: 'en-US', speakers: {}, options, createdAt: 1000, ...changes };
}

function post(id: string, changes: Partial<NewPostTranscription> = {}): NewPostTranscription {
  const recording = { recordingId: 'rec_1', egressId: 'EG_1', originAt: 500 };
  return { id, room: 'demo', language: 'en-US', speakers: {}, createdAt: 1000, ...recording, ...changes };
}

function claim(changes: Partial<LiveClaim> = {}): LiveClaim {
  return { owner: 'a', now: 2000, leaseUntil: 3000, limit: 1, supports: () => true, ...changes };
}

function segment(id: string, changes: Partial<StoredSegment> = {}): StoredSegment {
  return {
    id,
    trackId: null,
    identity: null,
    name: null,
    text: `Text of ${id}.`,
    language: 'en-US',
    startedAt: 1500,
    endedAt: 2500,
    confidence: null,
    overlapMs: null,
    ...changes,
  };
}
