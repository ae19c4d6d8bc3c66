import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultCacheDir } from '../../../../src/server/dev/binaries/go-binary.ts';
import {
  installModel,
  installPackage,
  type PackageRecipe,
} from '../../../../src/server/transcription/models/install-model.ts';
import { installedModels, vadModelPath } from '../../../../src/server/transcription/models/model-store.ts';
import { TEST_MODEL, testModel } from '../../../support/parts/speech-model.ts';

let folder: string;
let lines: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-install-'));
  lines = [];
  await writeFile(join(folder, 'weights.txt'), 'weights');
});
afterEach(() => rm(folder, { recursive: true }));

const sha256 = createHash('sha256').update('weights').digest('hex');
const recipe = (changes: Partial<PackageRecipe> = {}): PackageRecipe => ({
  commands: [
    ['cp', join(folder, 'weights.txt'), 'weights.bin'],
    ['cp', '*.bin', 'copy.bin'],
  ],
  downloadBytes: 7,
  files: { 'copy.bin': sha256 },
  ...changes,
});
const install = (of: PackageRecipe, signal?: AbortSignal): Promise<void> =>
  installPackage(of, {
    name: 'model',
    folder: join(folder, 'models'),
    onProgress: (line) => lines.push(line),
    signal,
  });
const installedFiles = (): Promise<readonly string[]> => readdir(join(folder, 'models'), { recursive: true });

describe('installPackage', () => {
  it('installs the files and those made from them, and reports its progress', async () => {
    await install(recipe({ derive: (of) => writeFile(join(of, 'made.txt'), 'made') }));
    expect((await installedFiles()).toSorted()).toEqual(['model', 'model/copy.bin', 'model/made.txt']);
    expect(lines).toEqual(['fetching model, 0 MB', 'checking model', 'model is installed']);
  });

  it('leaves an installed package unchanged', async () => {
    await install(recipe());
    await writeFile(join(folder, 'models/model/copy.bin'), 'mine');
    await install(recipe({ commands: [['false']] }));
    expect(await readFile(join(folder, 'models/model/copy.bin'), 'utf8')).toBe('mine');
  });

  it('rejects a file with another hash, and installs nothing', async () => {
    const wrong = recipe({
      files: { 'copy.bin': sha256.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
    });
    await expect(install(wrong)).rejects.toThrow(
      `copy.bin is not the expected file: its SHA-256 is ${sha256}.`,
    );
    expect(await installedFiles()).toEqual([]);
  });

  it.each([
    [
      'a command that fails',
      { commands: [['ls', '/nonexistent']] },
      /^ls failed \(exit code \d\): .*nonexistent/,
    ],
    [
      'a program that is not there',
      { commands: [['no-such-program']] },
      /^no-such-program cannot be run\. Install it/,
    ],
    ['a package without the file', { files: { 'other.bin': sha256 } }, /ENOENT/],
  ] as const)('reports %s, and installs nothing', async (_, changes, message) => {
    await expect(install(recipe(changes))).rejects.toThrow(message);
    expect(await installedFiles()).toEqual([]);
  });

  it('ends its command when it is cancelled', async () => {
    const cancelling = new AbortController();
    const installing = install(recipe({ commands: [['sleep', '60']] }), cancelling.signal);
    cancelling.abort();
    await expect(installing).rejects.toThrow();
    expect(await installedFiles()).toEqual([]);
  });

  it('may run twice at once', async () => {
    await Promise.all([install(recipe()), install(recipe())]);
    expect((await installedFiles()).toSorted()).toEqual(['model', 'model/copy.bin']);
  });
});

describe('installModel', () => {
  it('installs the model and the detector in the folder of the workers', () => {
    const cacheDir = defaultCacheDir(process.env);
    expect(vadModelPath(cacheDir)).toMatch(/silero_vad_legacy\.onnx$/);
    const installed = installedModels(cacheDir).find(({ name }) => name === TEST_MODEL);
    expect(installed).toMatchObject({ name: TEST_MODEL, folder: testModel(cacheDir), languages: ['en'] });
  });

  it('lists the available models for an unknown one', async () => {
    const options = { cacheDir: folder, onProgress: () => {} };
    await expect(installModel('toString', options)).rejects.toThrow(
      'There is no model "toString"; there are moonshine-tiny-en, parakeet-tdt-0.6b-v3,',
    );
    expect(installedModels(folder)).toEqual([]);
  });
});
