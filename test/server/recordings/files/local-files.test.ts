import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { link, mkdir, open, rename, rm, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/contract/problem.ts';
import { heldBufferBytes } from '../../../support/live-memory.ts';
import { register } from '../../webhooks/support/hooked-service.ts';
import { type Receiver, startReceiver } from '../../webhooks/support/receiver.ts';
import { type Stage, startStage } from '../support/stage.ts';

let stage: Stage;
/** The file of a recording. The test wrote it, so its content is known. */
let path: string;
let url: string;
const content = randomBytes(200_000);

beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.close());

beforeEach(async () => {
  const { recordingId, file } = await stage.recordWhole();
  path = file?.path ?? '';
  url = `/v1/recordings/${recordingId}/download`;
  await writeFile(path, content);
});

async function problem(response: Response) {
  const { type, detail } = (await response.json()) as Problem;
  return { status: response.status, code: type.split(':').at(-1), detail };
}

describe('a range of a local file', () => {
  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=0-99', 0, 100],
    ['bytes=199999-', 199_999, 1],
    ['bytes=199999-199999', 199_999, 1],
    ['bytes=100-', 100, 199_900],
    ['bytes=100-999999', 100, 199_900],
    ['bytes=-1', 199_999, 1],
    ['bytes=-100', 199_900, 100],
    ['bytes=-200000', 0, 200_000],
    ['bytes=-200001', 0, 200_000],
    ['BYTES=5-6', 5, 2],
  ])('%s is 206', async (range, start, length) => {
    const response = await stage.fetch(url, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${start + length - 1}/200000`);
    expect(response.headers.get('content-length')).toBe(String(length));
    expect(Buffer.from(await response.bytes()).equals(content.subarray(start, start + length))).toBe(true);
  });

  it.each(['bytes=200000-', 'bytes=200000-200001', 'bytes=999999999999999999999-', 'bytes=-0'])(
    '%s is 416, with the length of the file',
    async (range) => {
      const response = await stage.fetch(url, { headers: { range } });
      expect(response.headers.get('content-range')).toBe('bytes */200000');
      expect(await problem(response)).toMatchObject({ status: 416, code: 'range-not-satisfiable' });
    },
  );

  it.each(['bytes=5-4', 'bytes=-', 'bytes=a-b', 'bytes=0-1,5-6', 'lines=1-2', 'bytes', 'bytes=1-2-3'])(
    '%s is ignored',
    async (range) => {
      const response = await stage.fetch(url, { headers: { range } });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-length')).toBe('200000');
      expect((await response.bytes()).length).toBe(200_000);
    },
  );

  it('of an empty file is 416, and the whole of it is empty', async () => {
    await writeFile(path, '');
    expect((await stage.fetch(url, { headers: { range: 'bytes=0-' } })).status).toBe(416);
    const whole = await stage.fetch(url);
    expect([whole.status, whole.headers.get('content-length'), await whole.text()]).toEqual([200, '0', '']);
  });

  it('is sent for the version that the caller has, else the whole file', async () => {
    const first = await stage.fetch(url, { method: 'HEAD' });
    const etag = first.headers.get('etag') ?? '';
    const date = first.headers.get('last-modified') ?? '';
    const statusWith = async (condition: string) => {
      const response = await stage.fetch(url, { headers: { range: 'bytes=1-2', 'if-range': condition } });
      await response.bytes();
      return response.status;
    };
    expect(
      await Promise.all([etag, date, '"other"', `W/${etag}`, new Date(0).toUTCString()].map(statusWith)),
    ).toEqual([206, 206, 200, 200, 200]);
    await utimes(path, new Date(), new Date(Date.now() + 5000));
    expect(await statusWith(etag)).toBe(200);
  });
});

describe('a local file', () => {
  it('has its type, and accepts ranges', async () => {
    const response = await stage.fetch(url);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': '200000',
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      'content-disposition': expect.stringMatching(/^attachment; filename="[\w.-]+\.mp4"$/),
    });
    await response.bytes();
  });

  it('answers HEAD as GET, without the bytes', async () => {
    const [head, get] = await Promise.all([stage.fetch(url, { method: 'HEAD' }), stage.fetch(url)]);
    await get.bytes();
    for (const name of ['content-length', 'etag', 'last-modified', 'content-type']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
    expect([head.status, (await head.bytes()).length]).toEqual([200, 0]);
    const part = await stage.fetch(url, { method: 'HEAD', headers: { range: 'bytes=0-9' } });
    expect([part.status, part.headers.get('content-length')]).toEqual([206, '10']);
  });

  it('is not sent to a caller that has the current version', async () => {
    const head = await stage.fetch(url, { method: 'HEAD' });
    const etag = head.headers.get('etag') ?? '';
    const date = head.headers.get('last-modified') ?? '';
    const statusWith = async (headers: Record<string, string>) => {
      const response = await stage.fetch(url, { headers });
      await response.bytes();
      return response.status;
    };
    expect(await statusWith({ 'if-none-match': `"other", W/${etag}` })).toBe(304);
    expect(await statusWith({ 'if-none-match': '"other"' })).toBe(200);
    expect(await statusWith({ 'if-none-match': '"other"', 'if-modified-since': date })).toBe(200);
    expect(await statusWith({ 'if-modified-since': date })).toBe(304);
    expect(await statusWith({ 'if-modified-since': new Date(0).toUTCString() })).toBe(200);
  });

  it('is sent only in the requested version', async () => {
    const head = await stage.fetch(url, { method: 'HEAD' });
    const etag = head.headers.get('etag') ?? '';
    const modifiedAt = Date.parse(head.headers.get('last-modified') ?? '');
    const dateAfter = (seconds: number) => new Date(modifiedAt + seconds * 1000).toUTCString();
    const outcomeWith = async (headers: Record<string, string>) => {
      const response = await stage.fetch(url, { headers });
      const text = await response.text();
      return response.status === 412 ? (JSON.parse(text) as { type: string }).type : response.status;
    };
    const FAILED = 'urn:problem-type:rtc:precondition-failed';
    expect(await outcomeWith({ 'if-match': `"other", ${etag}` })).toBe(200);
    expect(await outcomeWith({ 'if-match': '*' })).toBe(200);
    expect(await outcomeWith({ 'if-match': etag, range: 'bytes=0-9' })).toBe(206);
    expect(await outcomeWith({ 'if-match': '"other"' })).toBe(FAILED);
    expect(await outcomeWith({ 'if-match': `W/${etag}` })).toBe(FAILED);
    expect(await outcomeWith({ 'if-match': '"other"', 'if-none-match': etag })).toBe(FAILED);
    expect(await outcomeWith({ 'if-unmodified-since': dateAfter(-1) })).toBe(FAILED);
    expect(await outcomeWith({ 'if-unmodified-since': dateAfter(0) })).toBe(200);
    expect(await outcomeWith({ 'if-unmodified-since': 'yesterday' })).toBe(200);
    expect(await outcomeWith({ 'if-match': etag, 'if-unmodified-since': dateAfter(-1) })).toBe(200);
  });

  it('of 256 MB is streamed in little memory, also to a reader who stops reading', async () => {
    const size = 256 * 1024 * 1024;
    const file = await open(path, 'w');
    await file.truncate(size);
    await file.close();
    // This process is both sender and receiver.
    const before = heldBufferBytes();
    const little = 32 * 1024 * 1024;
    const response = await stage.fetch(url);
    let [received, looks] = [0, 0];
    for await (const chunk of response.body ?? []) {
      received += chunk.length;
      if (received < (looks * size) / 8) continue;
      looks += 1;
      expect(heldBufferBytes() - before).toBeLessThan(little);
    }
    expect([received, looks]).toEqual([size, 9]);

    const stalled = await stage.fetch(url);
    const reader = stalled.body?.getReader();
    await reader?.read();
    // Enough turns for a service that reads ahead to read the whole file.
    for (let call = 0; call < 100; call += 1) await stage.fetch(url, { method: 'HEAD' });
    expect(heldBufferBytes() - before).toBeLessThan(little);
    await reader?.cancel();
  }, 60_000);

  it('that becomes shorter during a read ends the response, and does not hang', async () => {
    const size = 64 * 1024 * 1024;
    const file = await open(path, 'r+');
    await file.truncate(size);
    const response = await stage.fetch(url);
    const reader = response.body?.getReader();
    await reader?.read();
    await file.truncate(1024);
    await file.close();
    const rest = async () => {
      while ((await reader?.read())?.done === false);
    };
    await expect(rest()).rejects.toThrow();
  });

  it('is closed when its reader disconnects', async () => {
    const openFiles = (): number =>
      execFileSync('ls', ['-l', `/proc/${process.pid}/fd`], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.includes(stage.recordingDir)).length;
    const file = await open(path, 'r+');
    await file.truncate(64 * 1024 * 1024);
    await file.close();
    for (let round = 0; round < 5; round += 1) {
      const gone = new AbortController();
      const response = await stage.fetch(url, { signal: gone.signal });
      await response.body?.getReader().read();
      gone.abort();
    }
    for (const headers of [
      { range: 'bytes=99999999999-' },
      { 'if-none-match': '*' },
      { 'if-match': '"x"' },
    ]) {
      await (await stage.fetch(url, { headers })).bytes();
    }
    await stage.fetch(url, { method: 'HEAD' });
    await expect.poll(openFiles).toBe(0);
  });
});

describe('a path that leads out of the folder', () => {
  const OUT = { status: 502, code: 'recording-storage-error' };
  let outside: string;
  beforeEach(async () => {
    outside = join(stage.recordingDir, '..', `outside-${randomBytes(6).toString('hex')}`);
    await mkdir(outside);
    await writeFile(join(outside, 'secret.mp4'), 'not yours');
  });

  async function expectRefused(): Promise<void> {
    const response = await stage.fetch(url);
    const said = await problem(response);
    expect(said).toMatchObject(OUT);
    expect(said.detail).not.toContain(stage.recordingDir);
    await rm(outside, { recursive: true });
  }

  it('by a link in place of the file is rejected, and deleting deletes only the link', async () => {
    await unlink(path);
    await symlink(join(outside, 'secret.mp4'), path);
    const response = await stage.fetch(url);
    expect(await problem(response)).toMatchObject(OUT);
    expect((await stage.fetch(url.replace('/download', ''), { method: 'DELETE' })).status).toBe(204);
    const kept = await open(join(outside, 'secret.mp4'));
    expect(await kept.readFile('utf8')).toBe('not yours');
    await kept.close();
    await rm(outside, { recursive: true });
  });

  it('by a folder that became a link is rejected, for reading and for deleting', async () => {
    const name = path.split('/').at(-1) ?? '';
    await rename(join(outside, 'secret.mp4'), join(outside, name));
    await rm(dirname(path), { recursive: true });
    await symlink(outside, dirname(path));
    const deleted = await stage.fetch(url.replace('/download', ''), { method: 'DELETE' });
    expect(await problem(deleted)).toMatchObject(OUT);
    expect((await stage.fetch(url.replace('/download', ''))).status).toBe(200);
    await expectRefused();
  });

  it('by a link to another recording is rejected too, because a recording is a file', async () => {
    await link(path, join(stage.recordingDir, `other-${randomBytes(4).toString('hex')}.mp4`));
    await rename(path, `${path}.real`);
    await symlink(`${path}.real`, path);
    await expectRefused();
  });

  it.each(['folder', 'fifo'])('by a %s in place of the file is rejected at once', async (kind) => {
    await unlink(path);
    if (kind === 'folder') await mkdir(path);
    else execFileSync('mkfifo', [path]);
    await expectRefused();
    await rm(path, { recursive: true });
  });
});

describe('a missing folder of recordings', () => {
  it('does not matter for a recording that never had a file', async () => {
    await rename(stage.recordingDir, `${stage.recordingDir}.away`);
    try {
      const room = `empty-${randomBytes(6).toString('hex')}`;
      await stage.service.call('POST', '/v1/rooms', { body: { name: room } });
      const { egressId } = (await stage.service.call('POST', `/v1/rooms/${room}/recording/start`)).json as {
        egressId: string;
      };
      await stage.service.call('POST', `/v1/rooms/${room}/recording/stop`);
      expect(await problem(await stage.fetch(`/v1/recordings/${egressId}/download`))).toMatchObject({
        status: 404,
        detail: 'The recording was aborted before any media came: it has no file.',
      });
      expect((await stage.fetch(`/v1/recordings/${egressId}`, { method: 'DELETE' })).status).toBe(204);
    } finally {
      await rename(`${stage.recordingDir}.away`, stage.recordingDir);
    }
  });

  it('is an error of the settings, and no reason to delete a recording', async () => {
    await rename(stage.recordingDir, `${stage.recordingDir}.away`);
    try {
      for (const [method, path] of [
        ['GET', url],
        ['DELETE', url.replace('/download', '')],
      ] as const) {
        const said = await problem(await stage.fetch(path, { method }));
        expect(said).toMatchObject({ status: 502, code: 'recording-storage-error' });
        expect(said.detail).toContain('RECORDING_DIR');
      }
    } finally {
      await rename(`${stage.recordingDir}.away`, stage.recordingDir);
    }
    expect((await stage.fetch(url.replace('/download', ''))).status).toBe(200);
  });
});

describe('a link to a local file', () => {
  let receiver: Receiver;
  let fileUrl: URL;
  let startedAt: number;
  beforeAll(async () => {
    startedAt = Date.now();
    receiver = await startReceiver();
    await register(stage.service, receiver.url, ['egress_ended']);
  });
  afterAll(() => receiver?.close());
  beforeEach(async () => {
    const id = url.split('/')[3];
    const [delivery] = await receiver.waitFor(({ body }) => body.recording?.egressId === id);
    fileUrl = new URL(String(delivery?.body.recording?.fileUrl));
  });

  const changed = (name: string, value: string | undefined): URL => {
    const other = new URL(fileUrl);
    if (value === undefined) other.searchParams.delete(name);
    else other.searchParams.set(name, value);
    return other;
  };

  it('is valid for a day, for ranges and HEAD too', async () => {
    expect(fileUrl.origin).toBe(stage.service.url);
    const expiresAt = Number(fileUrl.searchParams.get('expires')) * 1000;
    const aDayAfter = (instant: number): number => instant + 86_400_000;
    expect(expiresAt).toBeGreaterThan(aDayAfter(startedAt) - 1000);
    expect(expiresAt).toBeLessThanOrEqual(aDayAfter(Date.now()) + 1000);
    const part = await fetch(fileUrl, { headers: { range: 'bytes=10-19' } });
    expect([part.status, Buffer.from(await part.bytes()).equals(content.subarray(10, 20))]).toEqual([
      206,
      true,
    ]);
    expect(part.headers.get('cache-control')).toBe('private, no-cache');
    expect((await fetch(fileUrl, { method: 'HEAD' })).headers.get('content-length')).toBe('200000');
  });

  it('is rejected after any change', async () => {
    const expires = Number(fileUrl.searchParams.get('expires'));
    const signature = fileUrl.searchParams.get('signature') ?? '';
    const other = new URL(fileUrl);
    other.pathname = `/recordings/${url.split('/')[3]}/file`;
    for (const bad of [
      changed('expires', String(expires + 1)),
      changed('expires', String(expires - 1)),
      changed('signature', `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`),
      changed('signature', signature.slice(0, -1)),
      changed('signature', `${signature}AAAA`),
      changed('signature', 'ü'),
      other,
    ]) {
      expect(await problem(await fetch(bad))).toMatchObject({ status: 403, code: 'invalid-signature' });
    }
    for (const bad of [
      changed('expires', undefined),
      changed('signature', undefined),
      changed('expires', '1e9'),
      changed('expires', '-1'),
      changed('extra', '1'),
    ]) {
      expect(await problem(await fetch(bad))).toMatchObject({ status: 400, code: 'invalid-request' });
    }
  });

  it('has neither its signature nor its expiry in the log', async () => {
    await (await fetch(fileUrl)).bytes();
    await fetch(changed('expires', '1'));
    const log = JSON.stringify(stage.service.logLines);
    expect(log).toContain('/recordings/:recordingId/file');
    for (const name of ['signature', 'expires']) expect(log).not.toContain(fileUrl.searchParams.get(name));
  });

  it('is 404 when its recording was deleted', async () => {
    await stage.fetch(url.replace('/download', ''), { method: 'DELETE' });
    expect(await problem(await fetch(fileUrl))).toMatchObject({ status: 404, code: 'recording-not-found' });
  });
});

describe('a download by a hostile request', () => {
  it.each([
    '/v1/recordings/..%2f..%2fetc%2fpasswd/download',
    '/v1/recordings/%2e%2e/download',
    '/v1/recordings/rec_x%00/download',
    '/v1/recordings/EG_%ff/download',
    '/v1/recordings/../../etc/passwd',
  ])('causes a problem: %s', async (raw) => {
    // Sends the path over a socket, because HTTP clients normalise it.
    const { hostname, port } = new URL(stage.service.url);
    const { createHash, createHmac } = await import('node:crypto');
    const timestamp = `${Math.floor(Date.now() / 1000)}`;
    const canonical = ['GET', raw, timestamp, createHash('sha256').update('').digest('hex')].join('\n');
    const signature = createHmac('sha256', stage.service.apiSecret).update(canonical).digest('hex');
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET ${raw} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Api-Key: ${stage.service.apiKey}\r\n` +
        `X-Service-Timestamp: ${timestamp}\r\nX-Service-Signature: ${signature}\r\n\r\n`,
    );
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 (400|404) /);
    expect(text).toContain('application/problem+json');
  });
});
