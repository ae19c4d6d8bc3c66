import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOpenaiEngine } from '../../../../src/server/transcription/engines/openai/openai-engine.ts';
import { SAMPLE_RATE, type SpeechEngine } from '../../../../src/server/transcription/engines/speech.ts';
import { json, startHttpServer, type TestHttpServer } from '../../../cli/support/http-server.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';

/* A speech server that supports verbose_json or refuses it, and the engine that calls it. */

type Respond = (response: ServerResponse, format: string, count: number) => void;

let server: TestHttpServer;
let logLines: LogLine[];
beforeEach(() => {
  logLines = [];
});
afterEach(() => server.close());

async function engineFor(respond: Respond): Promise<SpeechEngine> {
  server = await startHttpServer((request, response, count) =>
    respond(response, readFormat(request.body), count),
  );
  const settings = { url: server.url, apiKey: undefined, model: 'whisper-1', languages: ['en', 'auto'] };
  return createOpenaiEngine({ log: collectingLog(logLines) }, settings);
}

function readFormat(body: string): string {
  return /name="response_format"\r\n\r\n(.*)\r\n/.exec(body)?.[1] ?? '';
}

const formats = (): readonly string[] => server.received.map(({ body }) => readFormat(body));

const samples = new Float32Array(2 * SAMPLE_RATE);
const request = { samples, language: 'en' };

describe('the words of a speech server', () => {
  it('have their times, and the punctuation of the text', async () => {
    const engine = await engineFor((response) =>
      json(response, 200, {
        text: ' «Good morning», he said; good. 你好。',
        words: [
          { word: 'Good', start: 0.1, end: 0.3 },
          { word: 'morning', start: 0.3, end: 0.7 },
          { word: 'he', start: 0.9, end: 1 },
          { word: 'said', start: 1, end: 1.2 },
          { word: 'well', start: 1.2, end: 1.3 },
          { word: 'good', start: 1.3, end: 1.5 },
          { word: '你', start: 1.5, end: 1.7 },
          { word: '好', start: 1.7, end: 2.4 },
        ],
      }),
    );
    const { words } = await engine.recognise(request);
    expect(words?.map(({ text, start, end }) => [text, start, end])).toEqual([
      ['«Good', 0.1, 0.3],
      ['morning»,', 0.3, 0.7],
      ['he', 0.9, 1],
      ['said;', 1, 1.2],
      ['well', 1.2, 1.3],
      ['good.', 1.3, 1.5],
      ['你', 1.5, 1.7],
      ['好。', 1.7, 2],
    ]);
    expect(words?.every(({ confidence }) => confidence === null)).toBe(true);
  });

  it('are also read from segments, with their probabilities', async () => {
    const engine = await engineFor((response) =>
      json(response, 200, {
        text: ' Good morning.\n',
        segments: [
          { words: [{ word: ' Good', start: -0.1, end: 0.3, probability: 0.75 }] },
          { words: [{ word: ' morning.', start: 0.3, end: 0.2, probability: 7 }, { word: ' ' }, 'x'] },
        ],
      }),
    );
    expect((await engine.recognise(request)).words).toEqual([
      { text: 'Good', start: 0, end: 0.3, confidence: 0.75 },
      { text: 'morning.', start: 0.3, end: 0.3, confidence: null },
    ]);
  });

  it('are absent when the server returns no times', async () => {
    const engine = await engineFor((response) =>
      json(response, 200, { text: 'x', words: [{ word: 'x' }, 7] }),
    );
    expect((await engine.recognise(request)).words).toBeUndefined();
  });
});

describe('the confidence of a speech server', () => {
  it.each([
    [
      'is the mean over the tokens',
      [
        { avg_logprob: -1, tokens: [1] },
        { avg_logprob: -3, tokens: [1, 2, 3] },
      ],
      -2.5,
    ],
    [
      'goes by the length of the text without tokens',
      [
        { avg_logprob: -1, text: 'a' },
        { avg_logprob: -2, text: 'abc' },
      ],
      -1.75,
    ],
    [
      'leaves out what a model does not say',
      [{ avg_logprob: 0 }, { avg_logprob: -2 }, { avg_logprob: null }],
      -2,
    ],
    ['is null where no model says it', [{ avg_logprob: 0 }, {}], undefined],
  ])('%s', async (_, segments, log) => {
    const engine = await engineFor((response) => json(response, 200, { text: 'x', segments }));
    const { confidence } = await engine.recognise(request);
    expect(confidence).toEqual(log === undefined ? null : expect.closeTo(Math.exp(log)));
  });
});

describe('a speech server without verbose_json', () => {
  const refuse =
    (status: number): Respond =>
    (response, format) =>
      format === 'json' ? json(response, 200, { text: 'words' }) : json(response, status, { error: {} });

  it.each([400, 422])(
    'that responds with %i gets one segment twice, then each once, and fails none',
    async (status) => {
      const engine = await engineFor(refuse(status));
      for (let count = 0; count < 3; count += 1) {
        expect(await engine.recognise(request)).toEqual({ text: 'words', confidence: null });
      }
      expect(formats()).toEqual(['verbose_json', 'json', 'json', 'json']);
      expect(server.received[1]?.body).not.toContain('timestamp_granularities');
      expect(logLines).toEqual([
        {
          level: 'info',
          fields: { status },
          message: 'the speech server refuses verbose_json: segments have no words and no confidence',
        },
      ]);
    },
  );

  it('gets only the first of several concurrent segments twice', async () => {
    const engine = await engineFor(refuse(400));
    const texts = await Promise.all(Array.from({ length: 8 }, () => engine.recognise(request)));
    expect(texts.map(({ text }) => text)).toEqual(Array(8).fill('words'));
    expect(formats().toSorted()).toEqual([...Array(8).fill('json'), 'verbose_json']);
  });

  it('still transcribes when the language should be detected, which is then unknown', async () => {
    const engine = await engineFor(refuse(400));
    expect(await engine.recognise({ samples, language: 'auto' })).toEqual({
      text: 'words',
      confidence: null,
    });
  });

  it('that rejects everything gets each segment once after the first', async () => {
    const engine = await engineFor((response) => json(response, 400, {}));
    await expect(engine.recognise(request)).rejects.toMatchObject({ retryable: false });
    await expect(engine.recognise(request)).rejects.toThrow('responded with 400');
    expect(formats()).toEqual(['verbose_json', 'json', 'json']);
  });
});

describe('a speech server with verbose_json', () => {
  it('gets a segment that it rejects only once', async () => {
    const engine = await engineFor((response, _format, count) =>
      json(response, count === 2 ? 400 : 200, { text: 'words' }),
    );
    await engine.recognise(request);
    await expect(engine.recognise(request)).rejects.toThrow('responded with 400');
    expect((await engine.recognise(request)).text).toBe('words');
    expect(formats()).toEqual(Array(3).fill('verbose_json'));
    expect(logLines).toEqual([]);
  });

  it('that is busy at first is asked for the format again, and waiting segments get their text', async () => {
    const engine = await engineFor((response, _format, count) =>
      json(response, count === 1 ? 503 : 200, { text: 'words' }),
    );
    const [first, second] = await Promise.allSettled([engine.recognise(request), engine.recognise(request)]);
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
    await engine.recognise(request);
    expect(formats()).toEqual(['verbose_json', 'json', 'verbose_json']);
  });

  it('that disconnects at first blocks no segment', async () => {
    const engine = await engineFor((response, _format, count) =>
      count === 1 ? response.destroy() : json(response, 200, { text: 'words' }),
    );
    const [first, second] = await Promise.allSettled([engine.recognise(request), engine.recognise(request)]);
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
  });
});
