import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withVocabulary } from '../../../../src/server/transcription/engines/recognise-speech.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { testSpeech } from '../../../support/test-speech.ts';
import { startTranscriptionStage, type TranscriptionStage } from '../support/transcription-stage.ts';

let stage: TranscriptionStage;
beforeAll(async () => {
  stage = await startTranscriptionStage();
});
afterAll(() => stage?.close());

const at = (room: string): string => `/v1/rooms/${encodeURIComponent(room)}/vocabulary`;
const put = (terms: unknown, room = 'demo') => stage.service.call('PUT', at(room), { body: { terms } });
const read = async (room = 'demo') => (await stage.service.call('GET', at(room))).json;

describe('the vocabulary of a room', () => {
  it('is replaced, read and deleted, whether the room is open or not', async () => {
    expect(await read()).toEqual({ terms: [] });
    const stored = await put([' Ada  Lovelace ', 'LiveKit', 'LiveKit', 'C++', 'perché']);
    expect([stored.status, stored.json]).toEqual([
      200,
      { terms: ['Ada Lovelace', 'LiveKit', 'C++', 'perché'] },
    ]);
    expect(await read()).toEqual(stored.json);
    expect(await read('another')).toEqual({ terms: [] });
    expect((await stage.service.call('DELETE', at('demo'))).status).toBe(204);
    expect((await stage.service.call('DELETE', at('demo'))).status).toBe(204);
    expect(await read()).toEqual({ terms: [] });
  });

  it('can be set for a room of any name', async () => {
    const room = "it's 'a' room; -- √";
    await put(['Ada'], room);
    expect(await read(room)).toEqual({ terms: ['Ada'] });
  });

  it.each([
    ['no list', 'Ada'],
    ['an empty term', ['']],
    ['a blank term', ['  ']],
    ['a term without a letter', ['--!']],
    ['a term of 81 characters', ['a'.repeat(81)]],
    ['a term with a line feed', ['a\nb']],
    ['a term with NUL', ['a\u0000b']],
    ['a term with a line separator', ['a\u2028b']],
    ['half a surrogate pair', ['a\ud800']],
    ['something else than text', [7]],
    ['201 terms', Array.from({ length: 201 }, (_, index) => `term ${index}`)],
    ['100,000 terms', Array.from({ length: 100_000 }, () => 'x')],
  ])('is unchanged after rejecting %s', async (_, terms) => {
    await put(['before']);
    expect((await put(terms)).status).toBe(400);
    expect(await read()).toEqual({ terms: ['before'] });
  });

  it('may have 200 terms of 80 characters', async () => {
    const terms = Array.from({ length: 200 }, (_, index) => String(index).padEnd(80, 'x'));
    expect((await put(terms)).status).toBe(200);
    expect(await read()).toEqual({ terms });
  });

  it('is passed to the recogniser by transcriptions that begin afterwards', async () => {
    await put(['Ada Lovelace']);
    const requests: unknown[] = [];
    const { engine } = testSpeech();
    const recording = {
      ...engine,
      recognise: async (request: Parameters<typeof engine.recognise>[0]) => {
        requests.push(request.vocabulary);
        return { text: '', confidence: null };
      },
    };
    const log: LogLine[] = [];
    const deps = { store: stage.store, engine: recording, log: collectingLog(log) };
    const request = { samples: new Float32Array(1), language: 'en' };
    const first = withVocabulary(deps, 'demo');
    await first.recognise(request);
    await put(['Bea']);
    await first.recognise(request);
    await withVocabulary(deps, 'demo').recognise(request);
    await withVocabulary(deps, 'without').recognise(request);
    const failing = { findOrPlanned: async () => Promise.reject(new Error('unavailable')) };
    const store = { vocabularies: { ...stage.store.vocabularies, ...failing } };
    await withVocabulary({ ...deps, store }, 'demo').recognise(request);
    expect(requests).toEqual([['Ada Lovelace'], ['Ada Lovelace'], ['Bea'], [], []]);
    expect(JSON.stringify(log)).toContain('transcribing without it');
    expect(JSON.stringify(log)).not.toContain('Bea');
  });
});
