import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LiveStarted } from '../../../../src/contract/transcription.ts';
import type { TranscriptHitList } from '../../../../src/contract/words.ts';
import {
  readProblem,
  segment,
  startTranscriptionStage,
  type TranscriptionStage,
} from '../support/transcription-stage.ts';

let stage: TranscriptionStage;
beforeAll(async () => {
  stage = await startTranscriptionStage();
});
afterAll(() => stage?.close());

let room: string;
let live: LiveStarted;
beforeEach(async () => {
  room = `room-${randomUUID()}`;
  await stage.open(room);
  await stage.beat('stt-live', ['en', 'it']);
  const body = { language: 'en-US', participants: { ada: 'Countess Ada' } };
  live = (await stage.service.call('POST', `/v1/rooms/${room}/transcription/start`, { body })).json;
});

const call = (query: string) => stage.service.call('GET', `/v1/transcriptions/search?${query}`);

async function search(query: Readonly<Record<string, string>>): Promise<TranscriptHitList> {
  const response = await call(new URLSearchParams({ roomId: room, ...query }).toString());
  expect(response.status, response.text).toBe(200);
  return response.json;
}

describe('a search', () => {
  it('is no list of transcriptions', async () => {
    const path = '/v1/transcriptions';
    expect((await stage.service.call('GET', `${path}?q=orchard`)).status).toBe(400);
    expect((await stage.service.call('GET', `${path}/search`)).status).toBe(400);
    expect((await stage.service.call('GET', `${path}/search?q=orchard&status=failed`)).status).toBe(400);
  });

  it('returns live segments with their speaker, time and matches', async () => {
    const origin = Date.parse(live.startedAt);
    await stage.storeSegments(live.transcriptionId, [
      segment('seg_1', {
        startedAt: origin + 61_500,
        endedAt: origin + 63_000,
        text: '<b>Meetings</b> & more',
      }),
    ]);
    const { hits, nextCursor } = await search({ q: 'meeting' });
    expect(nextCursor).toBeNull();
    expect(hits).toEqual([
      {
        ...{ kind: 'live', roomId: room, recordingId: null },
        segment: expect.objectContaining({
          ...{ id: 'seg_1', transcriptionId: live.transcriptionId, speaker: 'Countess Ada' },
          ...{ start: 61.5, end: 63, text: '<b>Meetings</b> & more', final: true },
        }),
        highlighted: [
          { text: '<b>', match: false },
          { text: 'Meetings', match: true },
          { text: '</b> & more', match: false },
        ],
      },
    ]);
  });

  it('returns segments of recordings, with the only speaker of their transcription', async () => {
    const { store } = stage;
    const id = `tr_${randomUUID()}`;
    const egressId = `EG_${randomUUID()}`;
    await store.transcriptions.enqueuePost({
      ...{ id, room, language: 'it-IT', speakers: { any: 'Bice' }, createdAt: 1, originAt: 1000 },
      ...{ recordingId: `rec_${id}`, egressId },
    });
    const lease = { owner: 'a', now: 2000, leaseUntil: Date.now() + 60_000, limit: 99, supports: () => true };
    await store.transcriptions.claimPost(lease);
    const nobody = { trackId: null, identity: null, name: null, language: 'it-IT' };
    const said = segment(`seg_${id}`, { ...nobody, text: 'La riunione.', startedAt: 3000, endedAt: 4000 });
    await store.transcriptions.addSegments(id, 'a', [said]);
    const found = await search({ q: 'riunione', language: 'it' });
    expect(found.hits).toMatchObject([
      { kind: 'post', recordingId: egressId, segment: { speaker: 'Bice', start: 2, transcriptionId: id } },
    ]);
    expect(await search({ q: 'riunione', recordingId: egressId })).toEqual(found);
    expect((await search({ q: 'riunione', until: '1970-01-01T00:00:03.000Z' })).hits).toEqual([]);
    expect((await search({ q: 'riunione', since: '1970-01-01T00:00:03.000Z' })).hits).toHaveLength(1);
  });

  it('has pages with a cursor of its own', async () => {
    const texts = ['one', 'two', 'three'].map((n) => `coffee ${n}`);
    await stage.storeSegments(
      live.transcriptionId,
      texts.map((text) => segment(`seg_${text}_${room}`, { text })),
    );
    const first = await search({ q: 'coffee', limit: '2' });
    expect(first.hits.map(({ segment: { text } }) => text)).toEqual(['coffee three', 'coffee two']);
    const second = await search({ q: 'coffee', limit: '2', cursor: String(first.nextCursor) });
    expect(second.hits.map(({ segment: { text } }) => text)).toEqual(['coffee one']);
    expect(second.nextCursor).toBeNull();
    const listed = await stage.service.call('GET', `/v1/transcriptions?cursor=${first.nextCursor}`);
    expect(readProblem(listed)).toMatchObject({ status: 400, code: 'invalid-request' });
  });

  it('rejects an empty text and one that is too long', async () => {
    for (const q of ['', 'x'.repeat(257)]) {
      expect(readProblem(await call(`q=${q}`))).toMatchObject({ status: 400, errors: [{ parameter: 'q' }] });
    }
  });
});
