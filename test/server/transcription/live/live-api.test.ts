import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  LiveStarted,
  LiveStopped,
  LiveTranscription,
  PostTranscriptionDetail,
} from '../../../../src/contract/transcription.ts';
import type { StoredSegment } from '../../../../src/server/transcription/store.ts';
import { register } from '../../webhooks/support/hooked-service.ts';
import { type Receiver, startReceiver } from '../../webhooks/support/receiver.ts';
import {
  readProblem,
  segment,
  startTranscriptionStage,
  type TranscriptionStage,
} from '../support/transcription-stage.ts';

let stage: TranscriptionStage;
let receiver: Receiver;
beforeAll(async () => {
  stage = await startTranscriptionStage();
  receiver = await startReceiver();
  await register(stage.service, receiver.url, ['transcription_completed']);
});
afterAll(async () => {
  await receiver?.close();
  await stage?.close();
});

let room: string;
beforeEach(async () => {
  room = `room-${randomUUID()}`;
  await stage.open(room);
  await stage.beat('stt-live', ['en', 'it']);
});

const toPath = (name: string, rest = ''): string =>
  `/v1/rooms/${encodeURIComponent(name)}/transcription${rest}`;
const call = (method: string, path: string, body?: unknown) =>
  stage.service.call(method, path, body === undefined ? {} : { body });

async function start(body?: unknown, name = room): Promise<LiveStarted> {
  const response = await call('POST', toPath(name, '/start'), body);
  expect(response.status, response.text).toBe(201);
  return response.json;
}

async function read(query = ''): Promise<LiveTranscription> {
  const response = await call('GET', toPath(room, query));
  expect(response.status, response.text).toBe(200);
  return response.json;
}

/** The service leaves out the characters of a JSON pointer that do not fit. */
const BYTES_257 = `#/participants/${'%C3%A9'.repeat(47)}`;

describe('the models of the workers', () => {
  const reason = 'The Canary model cannot be loaded: no tokens';
  it('are listed by health, by language, and unusable ones with their reason by the self-check', async () => {
    await stage.beat('stt-live', ['it', 'en'], [{ language: 'de', reason }]);
    const { capabilities } = (await call('GET', '/v1/health')).json;
    expect(capabilities).toMatchObject({
      languages: { live: ['en', 'it'], post: [] },
      failedLanguages: { live: ['de'], post: [] },
    });
    expect(JSON.stringify(capabilities)).not.toContain('Canary');
    const { checks } = (await call('POST', '/v1/self-check')).json;
    expect(checks).toContainEqual({
      ...{ check: 'speech model', status: 'fault', detail: `stt-live cannot transcribe de: ${reason}` },
      next: expect.stringContaining('rtc stt models'),
    });
  });
});

describe('a live transcription that ended its workers', () => {
  it('is returned as failed with its error, and another one can be started', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, [segment('seg_before')]);
    const failure = { endedAt: Date.now(), errorCode: 'worker-lost', errorMessage: 'They died.' };
    await stage.store.transcriptions.failLive(transcriptionId, failure);
    expect(await read()).toMatchObject({
      ...{ transcriptionId, status: 'failed', stoppedAt: new Date(failure.endedAt).toISOString() },
      error: { code: 'worker-lost', message: 'They died.' },
      segments: [{ id: 'seg_before' }],
    });
    expect((await call('POST', toPath(room, '/stop'))).status).toBe(404);
    expect((await start()).transcriptionId).not.toBe(transcriptionId);
  });
});

describe('a transcript that is read in parts', () => {
  /** Segments that were stored from the last one to the first. */
  const five = () => {
    const prefix = randomUUID();
    return Array.from({ length: 5 }, (_, n) =>
      segment(`${prefix}_${n}`, { startedAt: 9000 - n, endedAt: 9500 }),
    );
  };
  const ids = ({ segments }: { readonly segments: readonly { readonly id: string }[] }) =>
    segments.map(({ id }) => Number(id.split('_').at(-1)));

  it('is read at its room in the order of storing, each part by its start, to the end and beyond', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, five());
    const first = await read('?limit=2');
    const second = await read(`?limit=2&cursor=${first.nextCursor}`);
    const third = await read(`?limit=2&cursor=${second.nextCursor}`);
    expect([first, second, third].map(ids)).toEqual([[1, 0], [3, 2], [4]]);
    await stage.storeSegments(transcriptionId, [segment(`${randomUUID()}_5`)]);
    expect(ids(await read(`?limit=2&cursor=${third.nextCursor}`))).toEqual([5]);
  });

  it('is read by its id in the same way, with a cursor of its own only', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, five());
    const byId = (query: string) => call('GET', `/v1/transcriptions/${transcriptionId}?${query}`);
    const first: LiveTranscription = (await byId('limit=4')).json;
    expect(ids((await byId(`limit=4&cursor=${first.nextCursor}`)).json)).toEqual([4]);
    await call('POST', toPath(room, '/stop'));
    const other = (await start()).transcriptionId;
    const refused = await call('GET', `/v1/transcriptions/${other}?cursor=${first.nextCursor}`);
    expect(refused).toMatchObject({ status: 400, json: { errors: [{ parameter: 'cursor' }] } });
  });

  it('has the cursor of a text in a header while there may be more', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, five());
    const text = (query: string) => call('GET', `/v1/transcriptions/${transcriptionId}?format=text&${query}`);
    const first = await text('limit=3');
    expect(first.text.split('\n')).toHaveLength(4);
    const last = await text(`limit=3&cursor=${first.headers['x-next-cursor']}`);
    expect(last.text.split('\n')).toHaveLength(3);
    expect(last.headers).not.toHaveProperty('x-next-cursor');
    expect((await text('')).headers).not.toHaveProperty('x-next-cursor');
  });

  it('of a recording is read by the start of its segments', async () => {
    const { store } = stage;
    const id = `tr_${randomUUID()}`;
    const given = { room, language: 'en', speakers: { any: 'Ada' }, createdAt: 1, originAt: 0 };
    await store.transcriptions.enqueuePost({ id, recordingId: id, egressId: id, ...given });
    const now = Date.now();
    await store.transcriptions.claimPost({
      ...{ owner: 'w', now, leaseUntil: now + 60_000, limit: 1000, supports: () => true },
    });
    const stored = five().map((each) => ({ ...each, trackId: null, identity: null, name: null }));
    expect(await store.transcriptions.addSegments(id, 'w', stored)).toBe(true);
    const read = async (query: string): Promise<PostTranscriptionDetail> =>
      (await call('GET', `/v1/transcriptions/${id}?${query}`)).json;
    const first = await read('limit=3');
    expect(ids(first)).toEqual([4, 3, 2]);
    expect(first.segments[0]?.speaker).toBe('Ada');
    const last = await read(`limit=3&cursor=${first.nextCursor}`);
    expect([ids(last), last.nextCursor]).toEqual([[1, 0], null]);
    expect(await read('')).toMatchObject({ segments: { length: 5 }, nextCursor: null });
  });
});

describe('starting a live transcription', () => {
  it('returns 201 with an id of the form tr_<id>, in English by default', async () => {
    const before = Date.now();
    const started = await start();
    expect(started).toEqual({
      transcriptionId: expect.stringMatching(/^tr_[\w-]+$/),
      roomId: room,
      status: 'active',
      language: 'en-US',
      startedAt: expect.any(String),
    });
    expect(Date.parse(started.startedAt)).toBeGreaterThanOrEqual(before);
    expect(await stage.store.transcriptions.find(started.transcriptionId)).toMatchObject({
      speakers: {},
      options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false },
    });
  });

  it('keeps the language, the names and the options', async () => {
    const options = { partialResults: true, captions: true, punctuation: false, profanityFilter: true };
    const { transcriptionId, language } = await start({
      language: 'IT-it',
      participants: { TR_1: 'Ada', bob: 'Bob' },
      options,
    });
    expect(language).toBe('it-IT');
    expect(await stage.store.transcriptions.find(transcriptionId)).toMatchObject({
      options,
      speakers: { TR_1: 'Ada', bob: 'Bob' },
    });
  });

  it('is idempotent while it is active, whatever the second start requests', async () => {
    const first = await start({ language: 'it' });
    expect(await start({ language: 'en-GB' })).toEqual(first);
    await call('POST', toPath(room, '/stop'));
    expect((await start()).transcriptionId).not.toBe(first.transcriptionId);
  });

  it('names a language that it ignores while a transcription in another one is active', async () => {
    const ignored = async (body?: unknown) =>
      (await call('POST', toPath(room, '/start'), body)).headers['x-transcription-language-ignored'];
    expect(await ignored({ language: 'it' })).toBeUndefined();
    expect(await ignored({ language: 'EN-gb' })).toBe('en-GB');
    expect(await ignored({ language: 'IT' })).toBeUndefined();
    expect(await ignored()).toBeUndefined();
  });

  it('creates one transcription for 50 concurrent starts', async () => {
    const started = await Promise.all(Array.from({ length: 50 }, () => start()));
    expect(new Set(started.map(({ transcriptionId }) => transcriptionId)).size).toBe(1);
  });

  it('is 503 without a worker, with the profile, while everything else works', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, [segment(`seg_${room}`)]);
    await stage.die('stt-live');
    const refused = readProblem(await call('POST', toPath(room, '/start')));
    expect(refused).toMatchObject({ status: 503, code: 'addon-unavailable' });
    expect(refused.detail).toContain('start a stt-live worker');
    expect((await read()).segments).toHaveLength(1);
    expect((await call('PATCH', toPath(room, '/speakers'), { participants: { ada: 'A' } })).status).toBe(204);
    expect((await call('POST', toPath(room, '/stop'))).status).toBe(200);
    expect((await call('DELETE', `/v1/transcriptions/${transcriptionId}`)).status).toBe(204);
  });

  it('is 503 also with a worker of the other kind', async () => {
    await stage.die('stt-live');
    await stage.beat('stt-post');
    expect(readProblem(await call('POST', toPath(room, '/start'))).code).toBe('addon-unavailable');
    await stage.die('stt-post');
  });

  it('is 404 for a room that is not open', async () => {
    const response = await call('POST', toPath('nobody-is-here', '/start'));
    expect(readProblem(response)).toMatchObject({ status: 404, code: 'room-not-found' });
  });

  it('is 400 for a language without a model, and lists the available ones', async () => {
    const refused = readProblem(await call('POST', toPath(room, '/start'), { language: 'de-AT' }));
    expect(refused).toMatchObject({ status: 400, code: 'invalid-request' });
    expect(refused.errors).toEqual([
      {
        pointer: '#/language',
        detail: expect.stringMatching(
          /there are en, it; a model for it: rtc stt install parakeet-tdt-0\.6b-v3 \(25 languages, 487 MB, CC-BY-4\.0\)/,
        ),
      },
    ]);
  });

  it.each([
    ['a language that is none', { language: 'english!' }, '#/language'],
    ['an empty language', { language: '' }, '#/language'],
    ['an unknown field', { lang: 'en' }, '#/lang'],
    ['an unknown option', { options: { punctuate: true } }, '#/options/punctuate'],
    ['an option that is no boolean', { options: { punctuation: 'yes' } }, '#/options/punctuation'],
    ['a name that is no text', { participants: { ada: 1 } }, '#/participants/ada'],
    ['a name with control characters', { participants: { ada: 'A\u0000' } }, '#/participants/ada'],
    ['an empty name', { participants: { ada: '' } }, '#/participants/ada'],
    ['an empty key', { participants: { '': 'Ada' } }, '#/participants/'],
    ['a key with control characters', { participants: { 'a\u0000': 'Ada' } }, '#/participants/a%00'],
    ['a key with a line break', { participants: { 'a\nb': 'Ada' } }, '#/participants/a%0Ab'],
    ['a key too long', { participants: { ['x'.repeat(257)]: 'Ada' } }, `#/participants/${'x'.repeat(257)}`],
    ['a key of too many bytes', { participants: { ['é'.repeat(129)]: 'Ada' } }, BYTES_257],
  ])('is 400 for %s', async (_case, body, pointer) => {
    const refused = readProblem(await call('POST', toPath(room, '/start'), body));
    expect(refused).toMatchObject({ status: 400, code: 'invalid-request' });
    expect(refused.errors?.map((error) => ('pointer' in error ? error.pointer : ''))).toContain(pointer);
  });
});

describe('the speakers of a live transcription', () => {
  it.each(['a', 'x'.repeat(256), 'é'.repeat(128)])('may have the key %.10s', async (key) => {
    expect((await call('POST', toPath(room, '/start'), { participants: { [key]: 'Ada' } })).status).toBe(201);
    expect((await call('PATCH', toPath(room, '/speakers'), { participants: { [key]: null } })).status).toBe(
      204,
    );
  });

  it('cannot be renamed by an invalid key', async () => {
    await start();
    const refused = readProblem(
      await call('PATCH', toPath(room, '/speakers'), { participants: { 'a\nb': 5, ada: 'Ada' } }),
    );
    expect(refused.errors).toEqual([
      { pointer: '#/participants/a%0Ab', detail: 'has a key that must not contain control characters' },
    ]);
  });
});

describe('the words of a segment', () => {
  it('have their times from the start of the transcription, when the model returns them', async () => {
    const { transcriptionId, startedAt } = await start();
    const origin = Date.parse(startedAt);
    const words = [{ text: 'Good', startedAt: origin + 1500, endedAt: origin + 1750, confidence: 0.5 }];
    await stage.storeSegments(transcriptionId, [
      segment(`timed-${room}`, { words }),
      segment(`plain-${room}`),
    ]);
    const { segments } = await read();
    const timed = segments.find(({ id }) => id === `timed-${room}`);
    expect(timed?.words).toEqual([{ text: 'Good', start: 1.5, end: 1.75, confidence: 0.5 }]);
    expect(segments.find(({ id }) => id === `plain-${room}`)).not.toHaveProperty('words');
  });
});

describe('a transcription in any language', () => {
  it('needs a worker whose model detects the language, and the error names a model', async () => {
    const refused = readProblem(await call('POST', toPath(room, '/start'), { language: 'auto' }));
    expect(refused).toMatchObject({ status: 400, code: 'invalid-request' });
    expect(refused.detail).toContain('rtc stt install whisper-small (99 languages');
    await stage.beat('stt-live', ['auto', 'en', 'it']);
    const { transcriptionId, language } = await start({ language: 'auto' });
    expect(language).toBe('auto');
    await stage.storeSegments(transcriptionId, [segment(`it-${room}`, { language: 'it' })]);
    expect((await read()).segments).toMatchObject([{ language: 'it' }]);
  });
});

describe('a reader that waits', () => {
  const path = (cursor: string, wait = 25) => `?cursor=${encodeURIComponent(cursor)}&wait=${wait}`;

  it('gets each segment when it is stored, and only new ones', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, [segment(`first-${room}`)]);
    const first = await read();
    const waiting = read(path(first.nextCursor));
    // It ended before the first segment, like one that took longer to recognise.
    await stage.storeSegments(transcriptionId, [segment(`second-${room}`, { endedAt: Date.now() - 60_000 })]);
    const second = await waiting;
    expect(second.segments.map(({ id }) => id)).toEqual([`second-${room}`]);
    expect((await read(path(first.nextCursor))).segments).toEqual(second.segments);
    expect((await read(path(second.nextCursor, 0))).segments).toEqual([]);
  });

  it('gets the end, and at once that of an ended one', async () => {
    const { transcriptionId } = await start();
    const { nextCursor } = await read();
    const waiting = read(path(nextCursor));
    await call('POST', toPath(room, '/stop'));
    expect(await waiting).toMatchObject({ transcriptionId, status: 'stopped', segments: [] });
    expect(await read(path(nextCursor))).toMatchObject({ status: 'stopped', segments: [] });
  });

  it('gets the next transcription from its beginning', async () => {
    await start();
    const { nextCursor } = await read();
    await call('POST', toPath(room, '/stop'));
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, [segment(`other-${room}`)]);
    const next = await read(path(nextCursor));
    expect(next).toMatchObject({ transcriptionId, segments: [{ id: `other-${room}` }] });
  });

  it('is rejected with a cursor of another list', async () => {
    await start();
    expect(readProblem(await call('GET', toPath(room, '?cursor=W10&wait=1')))).toMatchObject({
      status: 400,
      code: 'invalid-request',
    });
  });
});

describe('interim results', () => {
  const now = Date.now();
  const interim = (id: string, changes = {}) =>
    segment(id, { startedAt: now, endedAt: now + 500, text: 'Good', ...changes });
  const put = async (id: string, segments: readonly StoredSegment[], updatedAt = Date.now()) =>
    await stage.store.transcriptions.putInterims(id, 'the test worker', { segments, updatedAt });

  it('end the segments with final: false until they become final under the same id', async () => {
    const { transcriptionId } = await start({ options: { partialResults: true } });
    await stage.storeSegments(transcriptionId, [
      segment(`first-${room}`, { startedAt: now - 2000, endedAt: now - 1000 }),
    ]);
    expect(await put(transcriptionId, [interim(`next-${room}`)])).toBe(true);
    expect((await read()).segments).toMatchObject([
      { id: `first-${room}`, final: true },
      { id: `next-${room}`, final: false, text: 'Good', speaker: 'Ada Lovelace' },
    ]);
    const since = encodeURIComponent(new Date(now).toISOString());
    expect((await read(`?since=${since}`)).segments).toMatchObject([{ id: `next-${room}`, final: false }]);
    for (const format of ['text', 'md', 'vtt', 'srt']) {
      expect((await call('GET', toPath(room, `?format=${format}`))).text).not.toContain('Good');
    }
    await stage.storeSegments(transcriptionId, [interim(`next-${room}`, { text: 'Good morning.' })]);
    expect((await read()).segments).toMatchObject([
      { id: `first-${room}` },
      { id: `next-${room}`, final: true, text: 'Good morning.' },
    ]);
    await put(transcriptionId, [interim(`last-${room}`)]);
    expect((await call('POST', toPath(room, '/stop'))).json).toMatchObject({ segmentCount: 2 });
    expect((await read()).segments).toHaveLength(2);
  });

  it('are left out when the worker that stored them has died, and without the option', async () => {
    const { transcriptionId } = await start({ options: { partialResults: true } });
    await stage.storeSegments(transcriptionId, []);
    await put(transcriptionId, [interim(`old-${room}`)], Date.now() - 60_000);
    expect((await read()).segments).toEqual([]);
    await call('POST', toPath(room, '/stop'));
    const plain = await start();
    await stage.storeSegments(plain.transcriptionId, []);
    await put(plain.transcriptionId, [interim(`plain-${room}`)]);
    expect((await read()).segments).toEqual([]);
  });
});

describe('PATCH /v1/transcriptions/:id/speakers', () => {
  it('names the speakers of a live transcription by its id', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, [segment(`named-${room}`)]);
    const path = `/v1/transcriptions/${transcriptionId}/speakers`;
    expect((await call('PATCH', path, { participants: { ada: 'Countess' } })).status).toBe(204);
    expect((await read()).segments[0]?.speaker).toBe('Countess');
  });

  it('is 404 for an unknown transcription and 400 for a name that is not a text', async () => {
    const unknown = await call('PATCH', '/v1/transcriptions/tr_no/speakers', { participants: {} });
    expect(readProblem(unknown)).toMatchObject({ status: 404, code: 'transcription-not-found' });
    const { transcriptionId } = await start();
    const path = `/v1/transcriptions/${transcriptionId}/speakers`;
    expect(readProblem(await call('PATCH', path, { participants: { ada: 5 } }))).toMatchObject({
      status: 400,
    });
  });
});

describe('stopping a live transcription', () => {
  it('counts the stored segments exactly, and nothing is added afterwards', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, [segment(`a-${room}`), segment(`b-${room}`)]);
    const response = await call('POST', toPath(room, '/stop'));
    expect(response.status).toBe(200);
    const stopped: LiveStopped = response.json;
    expect(stopped).toEqual({
      transcriptionId,
      status: 'stopped',
      stoppedAt: expect.any(String),
      segmentCount: 2,
    });
    expect(await stage.storeSegments(transcriptionId, [segment(`c-${room}`)])).toBe(false);
    const { status, stoppedAt, segments } = await read();
    expect({ status, stoppedAt, count: segments.length }).toEqual({
      status: 'stopped',
      stoppedAt: stopped.stoppedAt,
      count: 2,
    });
  });

  it('is reported to webhooks once, with the count and without the text', async () => {
    const { transcriptionId, startedAt } = await start();
    await stage.storeSegments(transcriptionId, [segment(`d-${room}`, { text: 'A secret.' })]);
    await call('POST', toPath(room, '/stop'));
    const [delivery] = await receiver.waitFor(({ body }) => body.room?.name === room);
    expect(JSON.parse(delivery?.text ?? '')).toMatchObject({
      event: 'transcription_completed',
      transcription: {
        transcriptionId,
        kind: 'live',
        roomId: room,
        status: 'stopped',
        language: 'en-US',
        startedAt,
        segmentCount: 1,
      },
    });
    expect(delivery?.text).not.toContain('secret');
    expect(receiver.received.filter(({ body }) => body.room?.name === room)).toHaveLength(1);
  });

  it('is 404 for a room that is not being transcribed: not yet, not any more, never', async () => {
    for (const name of [room, 'nobody-is-here']) {
      const response = readProblem(await call('POST', toPath(name, '/stop')));
      expect(response).toMatchObject({ status: 404, code: 'transcription-not-found' });
    }
    await start();
    expect((await call('POST', toPath(room, '/stop'))).status).toBe(200);
    expect((await call('POST', toPath(room, '/stop'))).status).toBe(404);
  });

  it('succeeds for one of ten concurrent stops', async () => {
    await start();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => call('POST', toPath(room, '/stop'))),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 404)).toHaveLength(9);
  });
});

describe('speech in another language than that of the transcription', () => {
  const storeConfidences = async (identity: string, confidences: readonly (number | null)[]) => {
    const { transcriptionId } = await start({});
    const said = confidences.map((confidence, n) =>
      segment(`${identity}-${n}-${room}`, { identity, confidence }),
    );
    await stage.storeSegments(transcriptionId, said);
    return transcriptionId;
  };
  const doubted = {
    code: 'language-doubtful',
    participantIdentity: 'ugo',
    detail: 'Much of what ugo said has a text that nobody can have said: it is probably not en-US.',
  };

  it('causes a warning for its speaker, also for readers of new segments only', async () => {
    await storeConfidences('ada', [null, null, null]);
    const transcriptionId = await storeConfidences('ugo', [0.1, null, 0.1]);
    expect(await read()).toMatchObject({ warnings: [doubted] });
    const later = await read('?since=2100-01-01T00:00:00.000Z');
    expect(later).toMatchObject({ segments: [], warnings: [doubted] });
    const one = await call('GET', `/v1/transcriptions/${transcriptionId}`);
    expect(one.json).toMatchObject({ warnings: [doubted] });
  });

  it('causes no warning with one doubtful segment, nor with a few among many', async () => {
    await storeConfidences('ada', [0.1, null]);
    await storeConfidences('ugo', [0.1, 0.1, ...Array.from({ length: 19 }, () => null)]);
    expect(await read()).not.toHaveProperty('warnings');
  });
});

describe('reading a live transcription', () => {
  let started: LiveStarted;
  let origin: number;
  beforeEach(async () => {
    started = await start({ participants: { TR_bob: 'Bob the Builder' } });
    origin = Date.parse(started.startedAt);
    const at = (from: number, to: number) => ({ startedAt: origin + from, endedAt: origin + to });
    await stage.storeSegments(started.transcriptionId, [
      segment(`1-${room}`, { ...at(1500, 2750), text: 'Good\nmorning.', confidence: 0.5 }),
      segment(`2-${room}`, {
        ...at(3000, 4000),
        trackId: 'TR_bob',
        identity: 'bob',
        name: 'Bob',
        text: '1 < 2 & 3 > 2',
      }),
      segment(`3-${room}`, {
        ...at(3_661_001, 3_662_000),
        trackId: 'TR_cy',
        identity: 'cy',
        name: '',
        text: 'Bye.',
      }),
    ]);
  });

  it('returns segments by their start, with seconds from the start and the speakers by name', async () => {
    const { segments, ...rest } = await read();
    expect(rest).toEqual({
      transcriptionId: started.transcriptionId,
      roomId: room,
      status: 'active',
      language: 'en-US',
      startedAt: started.startedAt,
      stoppedAt: null,
      error: null,
      nextCursor: expect.any(String),
    });
    expect(segments[0]).toEqual({
      id: `1-${room}`,
      transcriptionId: started.transcriptionId,
      trackId: 'TR_ada',
      participantIdentity: 'ada',
      speaker: 'Ada Lovelace',
      text: 'Good\nmorning.',
      language: 'en-US',
      start: 1.5,
      end: 2.75,
      startedAt: new Date(origin + 1500).toISOString(),
      endedAt: new Date(origin + 2750).toISOString(),
      final: true,
      confidence: 0.5,
    });
    expect(segments.map(({ speaker, start: from, end }) => [speaker, from, end])).toEqual([
      ['Ada Lovelace', 1.5, 2.75],
      ['Bob the Builder', 3, 4],
      ['cy', 3661.001, 3662],
    ]);
  });

  it.each([
    [2749, 3],
    [2750, 2],
    [2751, 2],
    [3_662_000, 0],
  ])('since %i ms returns the %i segments that end strictly after it', async (ms, count) => {
    const since = encodeURIComponent(new Date(origin + ms).toISOString());
    expect((await read(`?since=${since}`)).segments).toHaveLength(count);
  });

  it('accepts an instant of any offset, also one in the future', async () => {
    const future = await read(`?since=${encodeURIComponent('2999-01-01T00:00:00+02:00')}`);
    expect(future.segments).toEqual([]);
    const local = new Date(origin + 2750 + 7_200_000).toISOString().replace('Z', '+02:00');
    expect((await read(`?since=${encodeURIComponent(local)}`)).segments).toHaveLength(2);
  });

  it.each(['yesterday', '', '1767225600', '2026-01-31', '2026-13-01T00:00:00Z', '2026-01-31T09:30:00'])(
    'is 400 for since=%s',
    async (since) => {
      const response = await call('GET', toPath(room, `?since=${encodeURIComponent(since)}`));
      expect(readProblem(response)).toMatchObject({ status: 400, code: 'invalid-request' });
      expect(readProblem(response).errors).toMatchObject([{ parameter: 'since' }]);
    },
  );

  it('returns a line per segment as text', async () => {
    const response = await call('GET', toPath(room, '?format=text'));
    expect(response.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(response.text).toBe(
      '[00:00:01] Ada Lovelace: Good morning.\n[00:00:03] Bob the Builder: 1 < 2 & 3 > 2\n[01:01:01] cy: Bye.\n',
    );
  });

  it('returns Markdown, in which no text is markup', async () => {
    const response = await call('GET', toPath(room, '?format=md'));
    expect(response.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(response.text).toBe(
      '**[00:00:01] Ada Lovelace:** Good morning.\n\n**[00:00:03] Bob the Builder:** 1 \\< 2 \\& 3 \\> 2\n\n**[01:01:01] cy:** Bye.\n',
    );
  });

  it('returns WebVTT, in which no text is a tag', async () => {
    const response = await call('GET', toPath(room, '?format=vtt'));
    expect(response.headers['content-type']).toBe('text/vtt; charset=utf-8');
    expect(response.text).toBe(`WEBVTT

00:00:01.500 --> 00:00:02.750
<v Ada Lovelace>Good morning.

00:00:03.000 --> 00:00:04.000
<v Bob the Builder>1 &lt; 2 &amp; 3 &gt; 2

01:01:01.001 --> 01:01:02.000
<v cy>Bye.
`);
  });

  it('returns SubRip, with the segments after since', async () => {
    const since = encodeURIComponent(new Date(origin + 2750).toISOString());
    const response = await call('GET', toPath(room, `?format=srt&since=${since}`));
    expect(response.headers['content-type']).toBe('application/x-subrip; charset=utf-8');
    expect(response.text).toBe(`1
00:00:03,000 --> 00:00:04,000
Bob the Builder: 1 < 2 & 3 > 2

2
01:01:01,001 --> 01:01:02,000
cy: Bye.
`);
  });

  it('returns JSON on request, and 400 for an unknown format', async () => {
    expect(await read('?format=json')).toEqual(await read());
    const response = readProblem(await call('GET', toPath(room, '?format=pdf')));
    expect(response.errors).toMatchObject([
      { parameter: 'format', detail: 'must be one of json, text, md, vtt, srt' },
    ]);
  });

  it('returns the same by its id', async () => {
    const response = await call('GET', `/v1/transcriptions/${started.transcriptionId}`);
    expect(response.json).toEqual(await read());
  });

  it('returns the newest when there were several', async () => {
    await call('POST', toPath(room, '/stop'));
    const { transcriptionId } = await start();
    expect(await read()).toMatchObject({ transcriptionId, status: 'active', segments: [] });
  });

  it('is 404 for a room that was never transcribed, open or not', async () => {
    const other = `room-${randomUUID()}`;
    await stage.open(other);
    for (const name of [other, 'nobody-is-here']) {
      expect(readProblem(await call('GET', toPath(name)))).toMatchObject({
        status: 404,
        code: 'transcription-not-found',
      });
    }
  });
});

describe('naming speakers', () => {
  const name = (participants: object) => call('PATCH', toPath(room, '/speakers'), { participants });
  const speakersNow = async () => (await read()).segments.map(({ speaker }) => speaker);

  it('renames past segments, by track before identity, and null restores the old name', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, [segment(`x-${room}`)]);
    expect(await speakersNow()).toEqual(['Ada Lovelace']);
    expect((await name({ ada: 'By identity' })).status).toBe(204);
    expect(await speakersNow()).toEqual(['By identity']);
    await name({ TR_ada: 'By track' });
    expect(await speakersNow()).toEqual(['By track']);
    await name({ TR_ada: null, other: 'Someone' });
    expect(await speakersNow()).toEqual(['By identity']);
    await name({ ada: null });
    expect(await speakersNow()).toEqual(['Ada Lovelace']);
  });

  it('works after the stop too', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, [segment(`y-${room}`)]);
    await call('POST', toPath(room, '/stop'));
    await name({ ada: 'Countess' });
    expect(await speakersNow()).toEqual(['Countess']);
  });

  it('takes no identity for a name that every object has', async () => {
    const { transcriptionId } = await start({ participants: { toString: 'T' } });
    await stage.storeSegments(transcriptionId, [
      segment(`p-${room}`, { trackId: 'constructor', identity: '__proto__', name: null }),
      segment(`q-${room}`, { trackId: null, identity: 'toString', name: null, startedAt: Date.now() + 5 }),
    ]);
    expect(await speakersNow()).toEqual(['__proto__', 'T']);
  });

  it('is 404 for a room that was never transcribed, 400 for an invalid map of names', async () => {
    expect(readProblem(await name({ ada: 'A' }))).toMatchObject({
      status: 404,
      code: 'transcription-not-found',
    });
    await start();
    for (const body of [
      {},
      { participants: [] },
      { participants: { ada: 7 } },
      { participants: { ada: '' } },
    ]) {
      expect((await call('PATCH', toPath(room, '/speakers'), body)).status).toBe(400);
    }
  });

  it('limits the map to 1000 names', async () => {
    const names = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`id${from + n}`, 'N']));
    await start();
    expect((await name(names(0, 999))).status).toBe(204);
    expect((await name(names(999, 1))).status).toBe(204);
    expect(readProblem(await name(names(1000, 1)))).toMatchObject({ status: 400, code: 'invalid-request' });
    expect((await name({ ...names(1000, 1), id0: null })).status).toBe(204);
  });
});

describe('deleting a live transcription', () => {
  it('is 409 while it runs, and deletes its segments with it after the stop', async () => {
    const { transcriptionId } = await start();
    await stage.storeSegments(transcriptionId, [segment(`z-${room}`)]);
    const path = `/v1/transcriptions/${transcriptionId}`;
    expect(readProblem(await call('DELETE', path))).toMatchObject({ status: 409, code: 'conflict' });
    await call('POST', toPath(room, '/stop'));
    expect((await call('DELETE', path)).status).toBe(204);
    expect(readProblem(await call('GET', path))).toMatchObject({
      status: 404,
      code: 'transcription-not-found',
    });
    expect((await call('DELETE', path)).status).toBe(404);
    expect((await call('GET', toPath(room))).status).toBe(404);
    expect(await stage.store.transcriptions.countSegments(transcriptionId)).toBe(0);
  });
});

describe('the health response', () => {
  const capabilities = async () =>
    ((await stage.service.call('GET', '/v1/health', { signing: false })).json as { capabilities: unknown })
      .capabilities;

  it('follows the heartbeats of the two add-ons', async () => {
    await stage.die('stt-live');
    expect(await capabilities()).toMatchObject({ transcriptionLive: false, transcriptionPost: false });
    await stage.beat('stt-live');
    expect(await capabilities()).toMatchObject({ transcriptionLive: true, transcriptionPost: false });
    await stage.beat('stt-post');
    await stage.die('stt-live');
    expect(await capabilities()).toMatchObject({ transcriptionLive: false, transcriptionPost: true });
    await stage.die('stt-post');
  });
});
