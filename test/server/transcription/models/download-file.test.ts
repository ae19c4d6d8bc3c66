import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ByteProgress } from '../../../../src/server/transcription/models/download-file.ts';
import { discardDownload, downloadFile } from '../../../../src/server/transcription/models/download-file.ts';
import { type Received, startHttpServer, type TestHttpServer } from '../../../cli/support/http-server.ts';

const CONTENT = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));

let folder: string;
let server: TestHttpServer;
let etag: string;
let pauses: number[];
let progress: ByteProgress[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-download-'));
  etag = '"one"';
  [pauses, progress] = [[], []];
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

/** Starts a server that supports ranges, like object storage. Each response breaks off after the given number of bytes. */
async function serve(breaksAfter: readonly (number | undefined)[] = []): Promise<void> {
  server = await startHttpServer((request, response, count) =>
    sendRange(request, response, breaksAfter[count - 1]),
  );
}

function sendRange(request: Received, response: ServerResponse, breakAfter: number | undefined): void {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const isPartial = request.headers.range !== undefined && request.headers['if-range'] === etag;
  const start = isPartial ? from : 0;
  if (start >= CONTENT.length) {
    response.writeHead(416, { 'content-range': `bytes */${CONTENT.length}` }).end();
    return;
  }
  const range = isPartial
    ? { 'content-range': `bytes ${start}-${CONTENT.length - 1}/${CONTENT.length}` }
    : {};
  const headers = { etag, 'content-length': CONTENT.length - start, ...range };
  response.writeHead(isPartial ? 206 : 200, headers);
  if (breakAfter === undefined) response.end(CONTENT.subarray(start));
  else {
    response.write(CONTENT.subarray(start, start + breakAfter));
    // If the connection broke earlier, bytes that the client has received but not read would be lost.
    const isRead = () => breakAfter === 0 || progress.at(-1)?.received === start + breakAfter;
    void vi.waitUntil(isRead, { timeout: 60_000, interval: 5 }).finally(() => response.destroy());
  }
}

const target = () => join(folder, 'model.tar.bz2');
const sleep = async (ms: number): Promise<void> => {
  pauses.push(ms);
};
const download = (signal = new AbortController().signal) =>
  downloadFile({
    ...{ url: `${server.url}/model.tar.bz2`, target: target(), mostBytes: CONTENT.length, signal },
    clock: { now: () => 0, monotonic: () => 0, sleep },
    onBytes: (bytes) => progress.push(bytes),
  });
const ranges = () => server.received.map(({ headers }) => headers.range);

describe('downloadFile', () => {
  it('downloads a file and reports the progress', async () => {
    await serve();
    expect((await readFile(await download())).equals(CONTENT)).toBe(true);
    expect(progress.at(-1)).toEqual({ received: CONTENT.length, total: CONTENT.length });
    expect(ranges()).toEqual([undefined]);
  });

  it('continues after an interrupted connection, without requesting anything twice', async () => {
    await serve([30_000, 20_000]);
    expect((await readFile(await download())).equals(CONTENT)).toBe(true);
    expect(ranges()).toEqual([undefined, 'bytes=30000-', 'bytes=50000-']);
    expect(pauses).toEqual([1_000, 1_000]);
  });

  it('gives up after four attempts without a byte, and continues there the next time', async () => {
    await serve([40_000, 0, 0, 0, 0]);
    await expect(download()).rejects.toThrow(/the same command continues there.*--from/);
    expect(pauses).toEqual([1_000, 3_000, 10_000]);
    expect((await readFile(await download())).equals(CONTENT)).toBe(true);
    expect(ranges().at(-1)).toBe('bytes=40000-');
    expect(progress.at(-1)).toEqual({ received: CONTENT.length, total: CONTENT.length });
  });

  it('gives up when every answer ends after a few bytes', async () => {
    await serve(Array.from({ length: 10 }, () => 1_000));
    await expect(download()).rejects.toThrow(/the same command continues there/);
    expect(pauses).toEqual([1_000, 3_000, 10_000]);
  });

  it.each([
    ['that says so', { 'content-length': CONTENT.length + 1 }],
    ['that does not say so', {}],
  ])('refuses a file of more bytes than expected, %s, and keeps nothing of it', async (_, headers) => {
    server = await startHttpServer((_request, response) =>
      response.writeHead(200, headers).end(Buffer.concat([CONTENT, Buffer.from('x')])),
    );
    await expect(download()).rejects.toThrow('more bytes than the 100000 that are expected at most');
    expect(pauses).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('requests nothing more when everything was received before', async () => {
    await serve();
    await download();
    expect((await readFile(await download())).equals(CONTENT)).toBe(true);
    expect(ranges()).toEqual([undefined, `bytes=${CONTENT.length}-`]);
    await discardDownload(target());
    await download();
    expect(ranges().at(-1)).toBeUndefined();
  });

  it('starts again when the file on the server has changed', async () => {
    await serve([40_000, 0, 0, 0, 0]);
    await expect(download()).rejects.toThrow();
    etag = '"two"';
    expect((await readFile(await download())).equals(CONTENT)).toBe(true);
  });

  it('fails at once when the file does not exist', async () => {
    server = await startHttpServer((_request, response) => response.writeHead(404).end('no'));
    await expect(download()).rejects.toThrow('/model.tar.bz2 responds with 404.');
    expect(pauses).toEqual([]);
  });

  it('ends when it is cancelled, and keeps the received bytes', async () => {
    await serve([40_000]);
    const cancelling = new AbortController();
    const cancelled = downloadFile({
      ...{ url: server.url, target: target(), mostBytes: CONTENT.length, signal: cancelling.signal },
      clock: {
        now: () => 0,
        monotonic: () => 0,
        sleep: async () => cancelling.abort(new Error('cancelled')),
      },
      onBytes: (bytes) => progress.push(bytes),
    });
    await expect(cancelled).rejects.toThrow('cancelled');
    expect((await readFile(`${target()}.part`)).equals(CONTENT.subarray(0, 40_000))).toBe(true);
  });
});
