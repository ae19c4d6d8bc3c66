import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultCacheDir } from '../../../../src/server/dev/binaries/go-binary.ts';
import { installModel } from '../../../../src/server/transcription/engines/install-model.ts';
import { installedModels, modelsFolder } from '../../../../src/server/transcription/engines/model-store.ts';
import { toWav } from '../../../../src/server/transcription/engines/wav.ts';
import { speechRecordings, testModel } from '../../../support/parts/speech-model.ts';

/* The real English model from a folder, as an operator without access to the internet installs it. */

const CACHE = defaultCacheDir(process.env);

let cacheDir: string;
let from: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'rtc-models-'));
  from = join(cacheDir, 'copied');
  await cp(testModel(CACHE) ?? '', from, { recursive: true });
  await rm(join(from, 'model.json'));
  await mkdir(join(from, 'test_wavs'));
  await cp(join(modelsFolder(CACHE), 'silero-vad'), join(modelsFolder(cacheDir), 'silero-vad'), {
    recursive: true,
  });
});
afterEach(() => rm(cacheDir, { recursive: true }));

const install = async (): Promise<readonly string[]> => {
  const steps: string[] = [];
  const onProgress = (line: string): void => void steps.push(line);
  await installModel('moonshine-tiny-en', { cacheDir, from, acceptUnverified: true, onProgress });
  return steps;
};

it('installing a model that recognises its spoken sample succeeds, once', async () => {
  await cp(speechRecordings().beckett.path, join(from, 'test_wavs', 'en.wav'));
  expect(await install()).toContain('trying moonshine-tiny-en');
  expect(installedModels(cacheDir)).toMatchObject([{ name: 'moonshine-tiny-en', languages: ['en'] }]);
  expect((await install()).at(-1)).toBe('moonshine-tiny-en is installed');
});

it('installing a model without text for its sample fails', async () => {
  const silence = toWav(new Float32Array(16_000), 16_000);
  await writeFile(join(from, 'test_wavs', 'en.wav'), Buffer.from(silence));
  await expect(install()).rejects.toThrow('the model returns no text');
  expect(await readdir(modelsFolder(cacheDir))).toEqual(['silero-vad']);
});
