import { afterEach, expect, it } from 'vitest';
import { createMixedEngine } from '../../../../src/server/transcription/engines/mixed-engine.ts';
import { createOpenaiEngine } from '../../../../src/server/transcription/engines/openai/openai-engine.ts';
import { SAMPLE_RATE, type SpeechEngine } from '../../../../src/server/transcription/engines/speech.ts';
import { json, startHttpServer, type TestHttpServer } from '../../../cli/support/http-server.ts';
import { collectingLog } from '../../../support/app.ts';
import { testSpeech } from '../../../support/test-speech.ts';

/* Some languages are recognised on this machine, others by a server that listens here. */

let server: TestHttpServer;
let requests: number;
afterEach(() => server.close());

async function mixed(
  local: SpeechEngine,
  localLanguages: readonly string[],
  languages: readonly string[] = ['en', 'it', 'de'],
): Promise<SpeechEngine> {
  requests = 0;
  server = await startHttpServer((_request, response) => {
    requests += 1;
    json(response, 200, { text: 'from the server' });
  });
  const settings = { url: server.url, apiKey: undefined, model: 'whisper-1', languages };
  const remote = createOpenaiEngine({ log: collectingLog([]) }, settings);
  return createMixedEngine({ local, remote, localLanguages, localAtOnce: 2 });
}

const samples = new Float32Array(SAMPLE_RATE);

it('the mixed engine sends only languages without a local model', async () => {
  const engine = await mixed(testSpeech({ recognise: () => 'from here' }).engine, ['en']);
  const recognise = async (language: string) => (await engine.recognise({ samples, language })).text;
  expect(await Promise.all([recognise('en'), recognise('en-GB'), recognise('EN-us')])).toEqual([
    'from here',
    'from here',
    'from here',
  ]);
  expect(requests).toBe(0);
  expect(await Promise.all([recognise('it-IT'), recognise('de')])).toEqual([
    'from the server',
    'from the server',
  ]);
  expect(requests).toBe(2);
  expect(engine.languages).toEqual(['de', 'en', 'it']);
  expect(['en-GB', 'it', 'fr'].map(engine.supports)).toEqual([true, true, false]);
  expect(['en-GB', 'it'].map(engine.isRemoteFor)).toEqual([false, true]);
  expect([engine.maxSegmentSecondsFor('en'), engine.maxSegmentSecondsFor('it')]).toEqual([8, 25]);
});

it('the mixed engine never sends a local language, even when its model does not work', async () => {
  const engine = await mixed(testSpeech({ languages: [] }).engine, ['en']);
  expect(engine.languages).toEqual(['de', 'it']);
  expect(engine.supports('en-US')).toBe(false);
  expect(engine.isRemoteFor('en-US')).toBe(false);
});

it('the mixed engine never sends speech in any language for detection', async () => {
  const { engine: english } = testSpeech();
  const engine = await mixed(english, ['en'], ['auto', 'en', 'it']);
  expect([engine.languages, engine.supports('auto')]).toEqual([['en', 'it'], false]);
  const telling = await mixed({ ...english, languages: ['auto', 'en'], supports: () => true }, ['en']);
  expect([telling.supports('auto'), telling.isRemoteFor('auto')]).toEqual([true, false]);
});

it('the mixed engine limits its concurrent local recognitions', async () => {
  let [running, most] = [0, 0];
  const recognise = async (): Promise<string> => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    return 'words';
  };
  const engine = await mixed(testSpeech({ recognise }).engine, ['en']);
  const all = Array.from({ length: 20 }, () => engine.recognise({ samples, language: 'en' }));
  expect((await Promise.all(all)).map(({ text }) => text)).toEqual(Array.from({ length: 20 }, () => 'words'));
  expect(most).toBe(2);
});

it('the mixed engine continues after a recognition that fails', async () => {
  let count = 0;
  const recognise = (): string => {
    count += 1;
    if (count === 1) throw new Error('out of memory');
    return 'words';
  };
  const engine = await mixed(testSpeech({ recognise }).engine, ['en']);
  const all = Array.from({ length: 5 }, () => engine.recognise({ samples, language: 'en' }));
  const outcomes = await Promise.allSettled(all);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...Array(4).fill('fulfilled')]);
});
