import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import type { Turn, TurnStore } from '../../../../src/server/transcription/turns/store.ts';
import { observeRecording } from '../../../support/observe-recording.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

describe.each(DATABASES)('turns on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;
  let turns: TurnStore;
  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
    turns = store.turns;
  });
  afterEach(() => testDatabase.close());

  async function record(id: string, at = 1_000, recordTracks = 0): Promise<void> {
    const recording = { id, room: `room of ${id}`, filepath: `${id}.mp4`, bucket: null };
    await store.recordings.claim({ ...recording, owner: 'maker', claimUntil: at + 500, recordTracks }, at);
    const created = { owner: 'maker', egressId: `EG_${id}`, at: at + 1 };
    await observeRecording(store, id, { type: 'egress-created', ...created });
  }
  const stop = (id: string, at: number) => observeRecording(store, id, { type: 'stop-accepted', at });
  const end = (id: string, at: number) =>
    observeRecording(store, id, { type: 'recorder-gone', reason: 'gone', file: undefined, at });
  const claim = (recordingId: string, owner: string, now = 2_000): Promise<boolean> =>
    turns.claimListening({ recordingId, owner, now, leaseUntil: now + 1_000 });
  const listed = async (stoppedAfter = 0) =>
    (await turns.listListened(stoppedAfter)).map(({ recordingId }) => recordingId);

  it('are needed of running recordings, the oldest first', async () => {
    await record('two', 1_200, 1);
    await record('one', 1_000);
    expect(await turns.listListened(0)).toEqual([
      { recordingId: 'one', room: 'room of one', owner: null, leaseUntil: null, recordTracks: 0 },
      { recordingId: 'two', room: 'room of two', owner: null, leaseUntil: null, recordTracks: 1 },
    ]);
    await claim('two', 'a');
    expect((await turns.listListened(0))[1]).toMatchObject({ owner: 'a', leaseUntil: 3_000 });
  });

  it('are needed for a while after the stop from the worker that listens, until the recording has ended', async () => {
    await record('one');
    await record('two');
    await claim('one', 'a');
    await stop('one', 5_000);
    await stop('two', 5_000);
    expect(await listed(4_999)).toEqual(['one']);
    expect(await listed(5_000)).toEqual([]);
    await end('one', 6_000);
    expect(await listed(4_999)).toEqual([]);
  });

  it('are recorded by one worker at a time, until its lease has expired or is released', async () => {
    await record('one');
    expect(await claim('one', 'a', 2_000)).toBe(true);
    expect(await claim('one', 'b', 2_999)).toBe(false);
    expect(await turns.isListening('one', 2_999)).toBe(true);
    expect(await turns.isListening('one', 3_000)).toBe(false);
    await turns.renewListening('a', 4_000);
    expect(await claim('one', 'b', 3_999)).toBe(false);
    expect(await claim('one', 'b', 4_000)).toBe(true);
    await turns.releaseListening('one', 'a');
    expect(await turns.isListening('one', 4_500)).toBe(true);
    await turns.releaseListening('one', 'b');
    expect(await turns.isListening('one', 4_500)).toBe(false);
    expect(await claim('one', 'a', 4_500)).toBe(true);
  });

  it('are recorded by one of 20 concurrent workers on five instances', async () => {
    await record('one');
    const stores = await Promise.all(Array.from({ length: 5 }, () => testDatabase.open()));
    const claimed = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (stores[index % 5] ?? store).turns.claimListening({
          ...{ recordingId: 'one', owner: `worker ${index}`, now: 2_000, leaseUntil: 3_000 },
        }),
      ),
    );
    expect(claimed.filter(Boolean)).toHaveLength(1);
  });

  it('are not recorded after the recording has ended, or when it is unknown', async () => {
    await record('one');
    await end('one', 2_000);
    expect(await claim('one', 'a')).toBe(false);
    expect(await claim('unknown', 'a')).toBe(false);
  });

  it('are stored by the listening worker, once each, and are listed by their start', async () => {
    await record('one');
    await claim('one', 'a');
    const [first, second] = [turn('ada', 10), turn('bob', 5, { name: null })];
    expect(await turns.addTurns('one', 'a', [first, second])).toBe(true);
    expect(await turns.addTurns('one', 'a', [first])).toBe(true);
    expect(await turns.addTurns('one', 'b', [turn('eve', 20)])).toBe(false);
    expect(await turns.addTurns('two', 'a', [turn('eve', 20)])).toBe(false);
    expect(await turns.listTurns('one')).toEqual([second, first]);
    expect(await turns.listTurns('two')).toEqual([]);
  });

  it('have names without the characters that a database rejects', async () => {
    await record('one');
    await claim('one', 'a');
    await turns.addTurns('one', 'a', [turn('a\u0000da', 1, { name: 'A\u0000da' })]);
    expect(await turns.listTurns('one')).toMatchObject([
      { identity: expect.not.stringContaining('\u0000'), name: expect.not.stringContaining('\u0000') },
    ]);
  });

  it('can be stored in large numbers at once', async () => {
    await record('one');
    await claim('one', 'a');
    const many = Array.from({ length: 350 }, (_, index) => turn('ada', index));
    expect(await turns.addTurns('one', 'a', many)).toBe(true);
    expect(await turns.listTurns('one')).toEqual(many);
  });

  describe('with audio', () => {
    const part = (index: number) => ({ keyId: 'key', part: index, sealed: `sealed ${index}` });
    const heard = (identity: string, startedAt: number) => ({
      ...turn(identity, startedAt),
      sound: [part(0), part(1)],
    });
    const place = (identity: string, startedAt: number) => ({
      ...{ recordingId: 'one', trackId: `TR_${identity}`, startedAt },
    });
    const read = async (identity: string, startedAt: number) =>
      (await turns.readSound(place(identity, startedAt))).map(({ sealed }) => sealed);
    const transcribe = async (id: string, language: string) => {
      const job = { ...{ id, room: 'room of one', recordingId: 'one', egressId: 'EG_one' }, language };
      await store.transcriptions.enqueuePost({ ...job, speakers: {}, createdAt: 3_000, originAt: 3_000 });
      const claim = { owner: 'w', now: 3_000, leaseUntil: 9_000, limit: 1, supports: () => true };
      await store.transcriptions.claimPost(claim);
    };
    const complete = (id: string) =>
      store.transcriptions.recordPostOutcome(id, 'w', {
        status: 'completed',
        endedAt: 4_000,
        durationMs: 1,
      });
    beforeEach(async () => {
      await record('one');
      await claim('one', 'a');
      await turns.addTurns('one', 'a', [heard('ada', 10), heard('bob', 20), turn('eve', 30)]);
    });

    it('are stored with their audio, in parts', async () => {
      await turns.addTurns('one', 'a', [heard('ada', 10)]);
      expect(await turns.listSounds('one')).toEqual([
        { trackId: 'TR_ada', startedAt: 10, keyId: 'key' },
        { trackId: 'TR_bob', startedAt: 20, keyId: 'key' },
      ]);
      expect(await turns.readSound(place('ada', 10))).toEqual([part(0), part(1)]);
      expect(await read('eve', 30)).toEqual([]);
      expect(await turns.listTurns('one')).toHaveLength(3);
    });

    it('lose the audio after the recording is transcribed, when no other transcription of it waits', async () => {
      const purge = () => turns.purgeSounds({ before: 0, limit: 100 });
      await transcribe('tr_1', 'en');
      await transcribe('tr_2', 'it');
      expect(await purge()).toBe(0);
      await complete('tr_1');
      expect(await purge()).toBe(0);
      await complete('tr_2');
      expect(await turns.purgeSounds({ before: 0, limit: 3 })).toBe(3);
      expect(await purge()).toBe(1);
      expect(await turns.listSounds('one')).toEqual([]);
      expect(await turns.listTurns('one')).toHaveLength(3);
    });

    it('lose the audio when it is too old', async () => {
      expect(await turns.purgeSounds({ before: 20, limit: 100 })).toBe(2);
      expect(await read('ada', 10)).toEqual([]);
      expect(await read('bob', 20)).toEqual(['sealed 0', 'sealed 1']);
    });

    it('lose the audio with the recording, not before it has ended', async () => {
      const many = Array.from({ length: 120 }, (_, index) => heard('ada', 100 + index));
      await turns.addTurns('one', 'a', many);
      expect(await store.recordings.delete('one')).toBe(false);
      expect(await turns.listSounds('one')).toHaveLength(122);
      await end('one', 3_000);
      expect(await store.recordings.delete('one')).toBe(true);
      expect(await turns.listSounds('one')).toEqual([]);
      expect(await read('ada', 110)).toEqual([]);
    });
  });

  it('are deleted with their recording, to which the worker can add none afterwards', async () => {
    await record('one');
    await claim('one', 'a');
    await turns.addTurns('one', 'a', [turn('ada', 1)]);
    expect(await store.recordings.delete('one')).toBe(false);
    expect(await turns.listTurns('one')).toHaveLength(1);
    await end('one', 3_000);
    expect(await store.recordings.delete('one')).toBe(true);
    expect(await turns.listTurns('one')).toEqual([]);
    expect(await turns.addTurns('one', 'a', [turn('ada', 2)])).toBe(false);
    expect(await turns.isListening('one', 0)).toBe(false);
  });
});

function turn(identity: string, startedAt: number, changes: Partial<Turn> = {}): Turn {
  return {
    trackId: `TR_${identity}`,
    identity,
    name: 'A name',
    startedAt,
    endedAt: startedAt + 1,
    ...changes,
  };
}
