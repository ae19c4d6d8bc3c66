import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { systemIds } from '../../../../src/server/platform/clock.ts';
import { TranscriptionError } from '../../../../src/server/transcription/audio/ffmpeg-audio.ts';
import { failTranscription } from '../../../../src/server/transcription/post/post-transcriber.ts';
import type { Transcription } from '../../../../src/server/transcription/store.ts';
import { NO_DISPATCHER } from '../../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  postgresTestDatabase,
  sqliteTestDatabase,
  type TestDatabase,
} from '../../platform/storage/test-databases.ts';
import { segment } from '../support/transcription-stage.ts';

const NOW = Date.UTC(2026, 0, 31, 9, 30, 0);
const NOT_MEDIA = new TranscriptionError('recording-not-media', 'The file has no sound.');
const AWAY = new TranscriptionError('storage-unavailable', 'Away.', { retryable: true });

describe.each([
  ['SQLite', sqliteTestDatabase],
  ['PostgreSQL', postgresTestDatabase],
] as const)('a post-call transcription that fails on %s', (_engine, prepare) => {
  let stage: TestDatabase;
  let store: Store;
  let job: Transcription;
  const clock = new ManualClock(NOW);
  const deps = (instanceId = 'a') => ({
    store,
    clock,
    ids: systemIds,
    dispatcher: NO_DISPATCHER,
    instanceId,
  });
  const storedEvents = async () => {
    const events = await store.events.list({ afterPosition: 0, limit: 100 });
    return events.map(({ type, payload }) => ({ event: type, ...JSON.parse(payload) }));
  };

  beforeEach(async () => {
    stage = await prepare();
    store = await stage.open();
    await store.transcriptions.enqueuePost({
      ...{ id: 'tr_1', room: 'demo', recordingId: 'rec_1', egressId: 'EG_1', language: 'en-US' },
      ...{ speakers: {}, createdAt: NOW - 1_000, originAt: NOW - 60_000 },
    });
    const claim = { owner: 'a', now: NOW, leaseUntil: NOW + 9_000, limit: 1, supports: () => true };
    const [claimed] = await store.transcriptions.claimPost(claim);
    if (claimed === undefined) throw new Error('the transcription cannot be claimed');
    job = claimed;
  });
  afterEach(() => stage.close());

  it('is stored as failed together with the event transcription_failed', async () => {
    await store.transcriptions.addSegments('tr_1', 'a', [segment('seg_1')]);
    expect(await failTranscription(deps(), job, NOT_MEDIA)).toBe('failed');
    expect(await store.transcriptions.find('tr_1')).toMatchObject({ status: 'failed', endedAt: NOW });
    expect(await storedEvents()).toMatchObject([
      {
        event: 'transcription_failed',
        room: { name: 'demo' },
        transcription: {
          ...{ transcriptionId: 'tr_1', kind: 'post', roomId: 'demo', recordingId: 'EG_1' },
          ...{ status: 'failed', language: 'en-US', segmentCount: 0, durationMs: null },
          completedAt: new Date(NOW).toISOString(),
          error: { code: 'recording-not-media', message: 'The file has no sound.' },
        },
      },
    ]);
  });

  it('counts the segments of a damaged recording in its event, because they are kept', async () => {
    await store.transcriptions.addSegments('tr_1', 'a', [segment('seg_1'), segment('seg_2')]);
    await failTranscription(deps(), job, new TranscriptionError('recording-damaged', 'It breaks off.'));
    expect(await storedEvents()).toMatchObject([
      { event: 'transcription_failed', transcription: { segmentCount: 2 } },
    ]);
  });

  it('sends no event while it is tried again, and one event after the last attempt', async () => {
    expect(await failTranscription(deps(), job, AWAY)).toBe('queued');
    expect(await storedEvents()).toEqual([]);
    const later = { owner: 'a', now: NOW + 60_000, leaseUntil: NOW + 90_000, limit: 1, supports: () => true };
    const [again] = await store.transcriptions.claimPost(later);
    expect(await failTranscription(deps(), { ...(again ?? job), attempts: 3 }, AWAY)).toBe('failed');
    expect(await storedEvents()).toMatchObject([{ event: 'transcription_failed' }]);
  });

  it('sends no event when another worker holds it in the meantime', async () => {
    expect(await failTranscription(deps('b'), job, NOT_MEDIA)).toBe('lost');
    expect(await store.transcriptions.find('tr_1')).toMatchObject({ status: 'processing' });
    expect(await storedEvents()).toEqual([]);
  });

  it('stays unfinished, with its segments, when its event cannot be stored', async () => {
    await store.transcriptions.addSegments('tr_1', 'a', [segment('seg_1')]);
    const next = (): string => {
      throw new ServiceError('storage-unavailable', 'Away.');
    };
    await expect(failTranscription({ ...deps(), ids: { next } }, job, NOT_MEDIA)).rejects.toThrow('Away.');
    expect(await store.transcriptions.find('tr_1')).toMatchObject({ status: 'processing' });
    expect(await store.transcriptions.countSegments('tr_1')).toBe(1);
  });
});
