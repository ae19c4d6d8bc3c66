import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import { readSherpaModel } from '../../../../src/server/transcription/engines/sherpa-model.ts';
import type { CatalogueModel } from '../../../../src/server/transcription/models/catalogue.ts';
import { installArchive } from '../../../../src/server/transcription/models/install-archive.ts';
import { installedModels } from '../../../../src/server/transcription/models/model-store.ts';
import { startHttpServer, type TestHttpServer } from '../../../cli/support/http-server.ts';
import { modelFolder } from '../engines/support/onnx-files.ts';
import { type ArchiveEntry, makeArchive } from './archives.ts';

/* Models that sherpa-onnx would load by their metadata. The test decides whether they recognise anything. */

const TOKENS = 'a 0\n';

let cache: string;
let folder: string;
let archive: string;
let server: TestHttpServer | undefined;
let steps: string[];
let tried: string[];
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'rtc-models-'));
  folder = join(cache, 'models');
  archive = join(cache, 'sherpa-onnx-test.tar.bz2');
  [steps, tried] = [[], []];
  makeArchive(archive, published());
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await rm(cache, { recursive: true });
});

function published(): readonly ArchiveEntry[] {
  return [
    ...['encoder.int8.onnx', 'encoder.onnx', 'decoder.int8.onnx', 'decoder.onnx'].map((name) => ({
      path: `sherpa-onnx-test/${name}`,
      file: join(whisper(), name),
    })),
    { path: 'sherpa-onnx-test/tokens.txt', text: TOKENS },
    { path: 'sherpa-onnx-test/test_wavs/it.wav', text: 'sound' },
  ];
}

const whisper = () =>
  modelFolder({
    ...{ 'encoder.int8.onnx': { model_type: 'whisper-tiny' }, 'encoder.onnx': {} },
    ...{ 'decoder.int8.onnx': {}, 'decoder.onnx': {}, 'tokens.txt': '' },
  });

const MODEL: CatalogueModel = {
  ...{ name: 'test', family: 'Whisper', languages: ['it'], licence: 'MIT', about: 'A test' },
  ...{
    archive: 'sherpa-onnx-test.tar.bz2',
    downloadBytes: null,
    diskBytes: null,
    accuracy: 'https://a.example',
  },
};
const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');
/** A published list of all files of the archive. */
const VERIFIABLE: CatalogueModel = {
  ...MODEL,
  files: {
    ...Object.fromEntries(
      ['encoder.int8.onnx', 'encoder.onnx', 'decoder.int8.onnx', 'decoder.onnx'].map((name) => [
        name,
        sha256(readFileSync(join(whisper(), name))),
      ]),
    ),
    'tokens.txt': sha256(TOKENS),
  },
};

type Options = { readonly from?: string; readonly acceptUnverified?: boolean; readonly isDeaf?: boolean };

const install = (model: CatalogueModel, { from = archive, acceptUnverified = false, isDeaf }: Options = {}) =>
  installArchive(model, {
    ...{ folder, from, acceptUnverified, clock: systemClock, signal: new AbortController().signal },
    onStep: (line) => steps.push(line),
    onBytes: () => {},
    tryModel: async (files) => {
      tried.push(files);
      if (isDeaf) throw new Error('the model returns no text');
    },
  });

describe('installArchive', () => {
  it('installs from a mirror, after it was verified and tried', async () => {
    const bytes = await readFile(archive);
    server = await startHttpServer(({ url }, response) => {
      if (url === '/models/sherpa-onnx-test.tar.bz2') response.end(bytes);
      else response.writeHead(404).end();
    });
    expect(await install(VERIFIABLE, { from: `${server.url}/models/` })).toBe(join(folder, 'test'));
    expect(steps).toEqual([
      ...['downloading test', 'unpacking test', 'checking test', 'trying test', 'test is installed'],
    ]);
    expect(installedModels(cache)).toEqual([
      { name: 'test', folder: join(folder, 'test'), languages: ['it'], isVerified: true },
    ]);
    expect(readdirSync(folder)).toEqual(['test']);
    expect(tried).toHaveLength(1);
  });

  it('leaves out the parts that also exist in quantised form', async () => {
    await install(VERIFIABLE);
    expect(readdirSync(join(folder, 'test')).toSorted()).toEqual([
      ...['decoder.int8.onnx', 'encoder.int8.onnx', 'model.json', 'test_wavs', 'tokens.txt'],
    ]);
  });

  it('installs nothing that cannot be verified unless that is accepted, and downloads nothing before', async () => {
    server = await startHttpServer((_request, response) => response.end());
    await expect(install(MODEL, { from: server.url })).rejects.toMatchObject({ name: 'UnverifiedModel' });
    expect(server.received).toEqual([]);
    await install(MODEL, { acceptUnverified: true });
    expect(installedModels(cache)).toMatchObject([{ name: 'test', isVerified: false }]);
    const lock = JSON.parse(await readFile(join(folder, 'models.lock'), 'utf8'));
    expect(lock).toEqual({ test: sha256(await readFile(archive)) });
  });

  it('accepts the models in models.lock without asking again, and rejects other files of their names', async () => {
    await install(MODEL, { acceptUnverified: true });
    await rm(join(folder, 'test'), { recursive: true });
    await install(MODEL);
    await rm(join(folder, 'test'), { recursive: true });
    makeArchive(archive, [{ path: 'other/tokens.txt', text: 'b 0\n' }]);
    await expect(install(MODEL, { acceptUnverified: true })).rejects.toThrow(
      /differs from what was installed before.*models\.lock/,
    );
    expect(existsSync(join(folder, 'test'))).toBe(false);
  });

  it('rejects a file that is not the published one, whatever is accepted', async () => {
    const other = { ...VERIFIABLE, files: { ...VERIFIABLE.files, 'tokens.txt': sha256('another') } };
    await expect(install(other, { acceptUnverified: true })).rejects.toThrow(
      /tokens\.txt of test is not the published file: its SHA-256 is [0-9a-f]{64}/,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['a-encoder.int8.onnx', 'test_wavs/deeper/model.onnx', 'README.md'])(
    'refuses an archive with %s beside the published files, before anything is loaded',
    async (name) => {
      const extra = { path: `sherpa-onnx-test/${name}`, file: join(whisper(), 'encoder.int8.onnx') };
      makeArchive(archive, [...published(), extra]);
      await expect(install(VERIFIABLE, { acceptUnverified: true })).rejects.toThrow(
        `The archive has ${JSON.stringify(name)}, which is not a published file of test.`,
      );
      expect(tried).toEqual([]);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('copies only the published files of a folder', async () => {
    const unpacked = whisper();
    await writeFile(join(unpacked, 'tokens.txt'), TOKENS);
    await writeFile(join(unpacked, 'a-encoder.int8.onnx'), 'another');
    await install(VERIFIABLE, { from: unpacked });
    expect(readdirSync(join(folder, 'test'))).not.toContain('a-encoder.int8.onnx');
  });

  it('loads only the published files, whatever is in the folder later', async () => {
    await install(VERIFIABLE);
    const installed = join(folder, 'test');
    await writeFile(join(installed, 'a-encoder.int8.onnx'), 'another');
    const config = readSherpaModel(installed).modelConfig('it');
    expect(config).toMatchObject({ whisper: { encoder: join(installed, 'encoder.int8.onnx') } });
  });

  it('installs nothing when the model gives no text for its sample', async () => {
    await expect(install(VERIFIABLE, { isDeaf: true })).rejects.toThrow('returns no text');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('accepts a folder that has the archive, or the files of the model themselves', async () => {
    await install(VERIFIABLE, { from: cache });
    await rm(join(folder, 'test'), { recursive: true });
    const unpacked = whisper();
    await writeFile(join(unpacked, 'tokens.txt'), TOKENS);
    await mkdir(join(unpacked, '.git'));
    await install(VERIFIABLE, { from: unpacked });
    expect(readdirSync(join(folder, 'test'))).not.toContain('.git');
    expect(installedModels(cache)).toMatchObject([{ name: 'test', isVerified: true }]);
  });

  it('explains what --from can name when the given path does not exist', async () => {
    await expect(install(VERIFIABLE, { from: '/no/such/place' })).rejects.toThrow(
      '/no/such/place cannot be read. Name an archive, a folder or the address of a mirror.',
    );
  });
});
