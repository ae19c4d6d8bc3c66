import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { defaultCacheDir } from '../../../../src/server/dev/binaries/go-binary.ts';
import { toWav } from '../../../../src/server/transcription/engines/openai/openai-engine.ts';
import { installModel } from '../../../../src/server/transcription/models/install-model.ts';
import {
  installedModels,
  modelsFolder,
  vadModelPath,
} from '../../../../src/server/transcription/models/model-store.ts';
import { speechRecordings, testModel } from '../../../support/parts/speech-model.ts';

/* Installs the real English model from a folder, as an operator without internet access does. */

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

it('installing takes the detector from beside the model, so that no registry is needed', async () => {
  vi.stubEnv('npm_config_registry', 'http://127.0.0.1:1');
  await rm(join(modelsFolder(cacheDir), 'silero-vad'), { recursive: true });
  await symlink(testModel(CACHE) ?? '', join(modelsFolder(cacheDir), 'moonshine-tiny-en'));
  const detector = vadModelPath(CACHE) ?? '';
  await cp(detector, join(from, basename(detector)));
  const steps = await install();
  vi.unstubAllEnvs();
  expect(steps.slice(-2)).toEqual(['silero-vad is installed', 'moonshine-tiny-en is installed']);
  expect(await readFile(vadModelPath(cacheDir) ?? '')).toEqual(await readFile(detector));
});

it('installing fails when the detector beside the model is another file', async () => {
  await rm(join(modelsFolder(cacheDir), 'silero-vad'), { recursive: true });
  await writeFile(join(from, 'silero_vad_legacy.onnx'), 'another');
  await expect(install()).rejects.toThrow(/silero_vad_legacy\.onnx is not the expected file/);
  expect(await readdir(modelsFolder(cacheDir))).toEqual([]);
});

it('installing a model without text for its sample fails', async () => {
  const silence = toWav(new Float32Array(16_000), 16_000);
  await writeFile(join(from, 'test_wavs', 'en.wav'), Buffer.from(silence));
  await expect(install()).rejects.toThrow('the model returns no text');
  expect(await readdir(modelsFolder(cacheDir))).toEqual(['silero-vad']);
});
