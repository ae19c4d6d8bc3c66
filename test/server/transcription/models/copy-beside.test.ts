import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import { copyBeside } from '../../../../src/server/transcription/models/download-file.ts';
import { startHttpServer, type TestHttpServer } from '../../../cli/support/http-server.ts';

let place: string;
let folder: string;
let mirror: TestHttpServer;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'rtc-place-'));
  folder = join(place, 'copied');
  await mkdir(folder);
  await writeFile(join(place, 'model.tar.bz2'), 'archive');
  mirror = await startHttpServer(({ url }, response) => {
    if (url === '/models/vad.onnx') response.end('detector');
    else response.writeHead(404).end();
  });
});
afterEach(async () => {
  await mirror.close();
  await rm(place, { recursive: true });
});

const copy = (from: string, paths = ['package/dist/vad.onnx']): Promise<boolean> =>
  copyBeside({
    ...{ from, paths, folder, mostBytes: 1_000, clock: systemClock, signal: new AbortController().signal },
    onBytes: () => {},
  });
const copied = (): Promise<string> => readFile(join(folder, 'package/dist/vad.onnx'), 'utf8');

describe('copyBeside', () => {
  it.each([
    ['a folder', () => place],
    ['the folder of an archive', () => join(place, 'model.tar.bz2')],
    ['a mirror', () => `${mirror.url}/models/`],
  ])('copies a file from %s', async (_, from) => {
    await writeFile(join(place, 'vad.onnx'), 'detector');
    expect(await copy(from())).toBe(true);
    expect(await copied()).toBe('detector');
  });

  it.each([
    ['a folder', () => place],
    ['the folder of an archive', () => join(place, 'model.tar.bz2')],
    ['a mirror', () => `${mirror.url}/others`],
    ['no place at all', () => '/no/such/place/at/all'],
  ])('says that %s has no such file', async (_, from) => {
    expect(await copy(from())).toBe(false);
  });

  it('says that a place has not all of the files', async () => {
    await writeFile(join(place, 'vad.onnx'), 'detector');
    expect(await copy(place, ['vad.onnx', 'other.onnx'])).toBe(false);
  });
});
