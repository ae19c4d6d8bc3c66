import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { createOpenaiEngine } from '../../../../src/server/transcription/engines/openai/openai-engine.ts';
import type { SpeechEngine } from '../../../../src/server/transcription/engines/speech.ts';
import { json, startHttpServer, type TestHttpServer } from '../../../cli/support/http-server.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';

let server: TestHttpServer | undefined;
let logLines: LogLine[] = [];
afterEach(async () => {
  await server?.close();
  server = undefined;
  logLines = [];
});

type RequestListener = Parameters<typeof startHttpServer>[0];

async function engineFor(
  handler: RequestListener,
  changes: { apiKey?: string | undefined; path?: string; timeoutMs?: number } = {},
): Promise<SpeechEngine> {
  server = await startHttpServer(handler);
  const { apiKey = 'sk-secret', path = '', ...timeouts } = changes;
  const log = collectingLog(logLines);
  return createOpenaiEngine(
    { log },
    { url: `${server.url}${path}`, apiKey, model: 'whisper-1', languages: ['it', 'en', 'auto'], ...timeouts },
  );
}

const samples = Float32Array.from([0, 0.5, -0.5]);
const respondingWith =
  (status: number, body: unknown): RequestListener =>
  (_, response) =>
    json(response, status, body);

describe('the OpenAI engine', () => {
  it('sends a WAV file, the model and the primary language, with the key', async () => {
    const engine = await engineFor(respondingWith(200, { text: ' Buongiorno. ' }));
    expect(await engine.recognise({ samples, language: 'it-IT' })).toEqual({
      text: 'Buongiorno.',
      confidence: null,
    });
    const [request] = server?.received ?? [];
    expect([request?.method, request?.url]).toEqual(['POST', '/v1/audio/transcriptions']);
    expect(request?.headers.authorization).toBe('Bearer sk-secret');
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    for (const [name, value] of [
      ['model', 'whisper-1'],
      ['language', 'it'],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
    ]) {
      expect(request?.body).toContain(`name="${name}"\r\n\r\n${value}\r\n`);
    }
    expect(request?.body).toMatch(
      /name="file"; filename="segment\.wav"\r\nContent-Type: audio\/wav\r\n\r\nRIFF/,
    );
  });

  it("sends the vocabulary as the prompt, up to the model's limit, and no prompt without one", async () => {
    const engine = await engineFor(respondingWith(200, { text: 'x' }));
    const readPrompt = (body = ''): string | undefined => /name="prompt"\r\n\r\n(.*)\r\n/.exec(body)?.[1];
    const promptFor = async (vocabulary?: readonly string[]) => {
      await engine.recognise({ samples, language: 'it', vocabulary });
      return readPrompt(server?.received.at(-1)?.body);
    };
    expect(await promptFor()).toBeUndefined();
    expect(await promptFor([])).toBeUndefined();
    expect(await promptFor(['Ada Lovelace', 'LiveKit'])).toBe('Ada Lovelace, LiveKit');
    const many = Array.from({ length: 200 }, (_, index) => `Term ${index}`);
    expect(await promptFor(many)).toMatch(/^Term 0, Term 1, .*Term \d+$/);
    expect((await promptFor(many))?.length).toBeLessThanOrEqual(600);
  });

  it.each([
    ['italian', 'it'],
    ['de', 'de'],
    ['klingon', undefined],
  ])('lets the server detect the language, which it returns as %s', async (retryAfter, language) => {
    const engine = await engineFor(respondingWith(200, { text: 'x', language: retryAfter }));
    expect(engine.supports('auto')).toBe(true);
    expect((await engine.recognise({ samples, language: 'auto' })).language).toBe(language);
    expect(server?.received[0]?.body).not.toContain('name="language"');
  });

  it.each(['', '/', '/v1', '/v1/'])('finds the API under a URL that ends in %j', async (path) => {
    const engine = await engineFor(respondingWith(200, { text: 'x' }), { path });
    await engine.recognise({ samples, language: 'en' });
    expect(server?.received.map(({ url }) => url)).toEqual(['/v1/audio/transcriptions']);
  });

  it('lists its languages, and rejects the others', async () => {
    const engine = await engineFor(respondingWith(200, { text: 'x' }));
    expect([engine.languages, engine.supports('en-GB'), engine.supports('de')]).toEqual([
      ['auto', 'en', 'it'],
      true,
      false,
    ]);
    await expect(engine.recognise({ samples, language: 'de' })).rejects.toMatchObject({
      code: 'invalid-request',
      message: 'The language "de" has no model; there are auto, en, it.',
    });
    expect(server?.received).toEqual([]);
  });

  it.each([
    [401, false, 'refuses our key'],
    [403, false, 'refuses our key'],
    [400, false, 'responded with 400'],
    [429, true, 'responded with 429'],
    [500, true, 'responded with 500'],
    [503, true, 'responded with 503'],
  ])('takes a status of %i for a temporary error: %s', async (status, retryable, message) => {
    const engine = await engineFor(respondingWith(status, { error: { message: 'sk-secret' } }));
    const failure = engine.recognise({ samples, language: 'en' });
    await expect(failure).rejects.toMatchObject({ code: 'media-server-error', retryable });
    await expect(failure).rejects.toThrow(message);
    expect(inspect(await failure.catch((error: unknown) => error), { depth: null })).not.toContain(
      'sk-secret',
    );
  });

  it.each([
    ['7', '7'],
    ['Sat, 31 Jan 2026 09:30:20 GMT', '20'],
    ['Sat, 31 Jan 2026 09:29:00 GMT', undefined],
    ['soon', undefined],
    ['-1', undefined],
  ])('passes on the wait that a busy server requests: %s', async (retryAfter, seconds) => {
    const engine = await engineFor((_request, response) =>
      response
        .writeHead(429, { 'retry-after': retryAfter, date: 'Sat, 31 Jan 2026 09:30:00 GMT' })
        .end('{"error":{}}'),
    );
    await expect(engine.recognise({ samples, language: 'en' })).rejects.toMatchObject({
      retryable: true,
      headers: seconds === undefined ? {} : { 'retry-after': seconds },
    });
  });

  it.each<[string, RequestListener]>([
    ['says nothing', () => {}],
    ['begins a response and does not end it', (_request, response) => response.write('{"text":')],
    [
      'says a byte now and then',
      (_request, response) => {
        response.write('{"text":"');
        const drip = setInterval(() => response.write('.'), 10);
        response.once('close', () => clearInterval(drip));
      },
    ],
  ])('times out for a server that %s', async (_case, response) => {
    const engine = await engineFor(response, { timeoutMs: 200 });
    await expect(engine.recognise({ samples, language: 'en' })).rejects.toMatchObject({
      code: 'media-server-unavailable',
      retryable: true,
    });
  });

  it('closes the connection to a server that sends megabytes', async () => {
    const sent = { bytes: 0, isOver: false };
    const hungUp = Promise.withResolvers<void>();
    const engine = await engineFor((_request, response) => {
      response.once('close', hungUp.resolve);
      response.write('{"text":"');
      const write = (): void => {
        if (response.destroyed || sent.isOver) return;
        sent.bytes += 65_536;
        sent.isOver = sent.bytes >= 10 * 1024 * 1024;
        response.write('x'.repeat(65_536), () => (sent.isOver ? response.end('"}') : write()));
      };
      write();
    });
    await expect(engine.recognise({ samples, language: 'en' })).rejects.toMatchObject({
      code: 'media-server-error',
      retryable: false,
      message: expect.stringContaining('far more'),
    });
    await hungUp.promise;
    expect(sent.isOver).toBe(false);
  });

  it('accepts a response of many words, and in any script', async () => {
    const text = 'Grüße, 世界. '.repeat(5_000).trim();
    const engine = await engineFor(respondingWith(200, { text }));
    expect((await engine.recognise({ samples, language: 'en' })).text).toBe(text);
  });

  it.each([
    ['no text', '{"words":[]}'],
    ['a text that is none', '{"text":7}'],
    ['nothing', ''],
    ['a page', '<html>'],
  ])('rejects a response with %s', async (_, body) => {
    const engine = await engineFor((_request, response) => response.end(body));
    await expect(engine.recognise({ samples, language: 'en' })).rejects.toMatchObject({
      code: 'media-server-error',
      retryable: false,
    });
  });

  it('distinguishes a server that is unreachable or disconnects from one that rejects', async () => {
    const engine = await engineFor((_request, response) => response.destroy());
    const away = { code: 'media-server-unavailable', retryable: true };
    await expect(engine.recognise({ samples, language: 'en' })).rejects.toMatchObject(away);
    await server?.close();
    const broken = await engineFor((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"text":', () => response.destroy());
    });
    await expect(broken.recognise({ samples, language: 'en' })).rejects.toMatchObject(away);
    await server?.close();
    server = undefined;
    await expect(engine.recognise({ samples, language: 'en' })).rejects.toMatchObject(away);
  });
});
