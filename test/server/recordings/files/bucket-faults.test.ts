import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/contract/problem.ts';
import type { Recording } from '../../../../src/contract/recordings.ts';
import { type Clock, systemClock } from '../../../../src/server/platform/clock.ts';
import type { ObjectStorage } from '../../../../src/server/recordings/files/bucket-files.ts';
import { createRecordingFiles } from '../../../../src/server/recordings/files/create-recording-files.ts';
import { readPort } from '../../../support/forwarding-server.ts';
import { freePort } from '../../../support/parts/run-part.ts';
import { bucketSettings, type S3, startS3 } from '../../../support/parts/s3.ts';
import { type Network, startNetwork } from '../../platform/storage/network.ts';
import { type Stage, startStage } from '../support/stage.ts';

let s3: S3;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3?.close());

function createStorage(changed: Partial<ObjectStorage> = {}): ObjectStorage {
  const { region, accessKey, secretKey, url: endpoint } = s3;
  return {
    region,
    accessKey,
    secretKey,
    endpoint,
    publicEndpoint: endpoint,
    forcePathStyle: true,
    ...changed,
  };
}

/** Uses the service's timeout, unless the test is about the timeout. */
function listFiles(storage: ObjectStorage | undefined, clock: Clock = systemClock, timeoutMs?: number) {
  const settings = { clock, storage, directory: '/nowhere' };
  return createRecordingFiles(timeoutMs === undefined ? settings : { ...settings, timeoutMs });
}

const at = (filepath: string, bucket = s3.bucket) => ({ filepath, bucket });

async function put(key: string, content: string): Promise<void> {
  const path = join(s3.bucketFolder, key);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
}

describe('an object of a bucket', () => {
  it('is found, signed, and deleted, and a missing one is no error', async () => {
    const files = listFiles(createStorage());
    await put('demo/one.mp4', 'frames');
    expect(await files.find(at('demo/one.mp4'))).toEqual({ sizeBytes: 6, modifiedAt: expect.any(Number) });
    const url = await files.signedUrl(at('demo/one.mp4'), 60);
    const part = await fetch(`${url}`, { headers: { range: 'bytes=1-2' } });
    expect([part.status, await part.text()]).toEqual([206, 'ra']);
    await files.delete(at('demo/one.mp4'));
    expect(existsSync(join(s3.bucketFolder, 'demo/one.mp4'))).toBe(false);
    await files.delete(at('demo/one.mp4'));
    expect(await files.find(at('demo/one.mp4'))).toBeUndefined();
  });

  it.each([
    'a b+c&d?e#f/x.mp4',
    '%2e%2e%2Fx/y%20z.mp4',
    'q\'u"o`te$(s)!*/x.mp4',
    'Üñï☃𝕏/é.mp4',
    '=;,:@/~.mp4',
  ])('is called by any key: %s', async (key) => {
    await put(key, 'frames');
    const files = listFiles(createStorage());
    expect((await files.find(at(key)))?.sizeBytes).toBe(6);
    expect(await (await fetch(`${await files.signedUrl(at(key), 60)}`)).text()).toBe('frames');
    await files.delete(at(key));
    expect(existsSync(join(s3.bucketFolder, key))).toBe(false);
  });

  it('is signed for no longer than requested', async () => {
    await put('demo/two.mp4', 'frames');
    const statusOfUrlMadeAgo = async (ms: number) => {
      const clock = { ...systemClock, now: () => Date.now() - ms };
      return (await fetch(`${await listFiles(createStorage(), clock).signedUrl(at('demo/two.mp4'), 60)}`))
        .status;
    };
    expect(await statusOfUrlMadeAgo(50_000)).toBe(200);
    expect(await statusOfUrlMadeAgo(62_000)).toBe(403);
  });

  it('is distinct from any other in its URL', async () => {
    await put('demo/three.mp4', 'frames');
    await put('demo/four.mp4', 'secret');
    const url = `${await listFiles(createStorage()).signedUrl(at('demo/three.mp4'), 60)}`;
    expect((await fetch(url.replace('three', 'four'))).status).toBe(403);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
  });

  it('is signed with the session token of temporary keys, and with no other', async () => {
    const sessionToken = 'a token+/=';
    const url = new URL(`${await listFiles(createStorage({ sessionToken })).signedUrl(at('a.mp4'), 60)}`);
    expect(url.searchParams.get('X-Amz-Security-Token')).toBe(sessionToken);
    expect(await listFiles(createStorage()).signedUrl(at('a.mp4'), 60)).not.toContain('Security-Token');
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers['x-amz-security-token']);
      const body = '<Error><Code>ExpiredToken</Code></Error>';
      response
        .writeHead(400, { 'content-type': 'application/xml' })
        .end(request.method === 'HEAD' ? '' : body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = `http://127.0.0.1:${readPort(server)}`;
    const expired = listFiles(createStorage({ sessionToken, endpoint })).find(at('a.mp4'));
    await expect(expired).rejects.toThrow('S3_SESSION_TOKEN');
    server.close();
    expect(new Set(seen)).toEqual(new Set([sessionToken]));
  });

  it('has its URL on the public endpoint, in either style', async () => {
    const publicEndpoint = 'https://media.example.org/store';
    const inPath = listFiles(createStorage({ publicEndpoint }));
    expect(await inPath.signedUrl(at('a b.mp4', 'box'), 60)).toMatch(
      /^https:\/\/media\.example\.org\/store\/box\/a%20b\.mp4\?X-Amz-Expires=60&/,
    );
    const inHost = listFiles(
      createStorage({ publicEndpoint: 'https://s3.example.org:9000', forcePathStyle: false }),
    );
    expect(await inHost.signedUrl(at('a b.mp4', 'box'), 60)).toMatch(
      /^https:\/\/box\.s3\.example\.org:9000\/a%20b\.mp4\?/,
    );
    const amazon = listFiles(
      createStorage({ publicEndpoint: undefined, region: 'eu-south-1', forcePathStyle: false }),
    );
    expect(await amazon.signedUrl(at('x.mp4', 'box'), 60)).toMatch(
      /^https:\/\/box\.s3\.eu-south-1\.amazonaws\.com\/x\.mp4\?/,
    );
  });
});

describe('a bucket in the host name', () => {
  it('is supported by an S3 server with such addresses', async () => {
    const domain = 's3.test';
    const other = await startS3({ virtualDomain: domain });
    try {
      const { port } = new URL(other.url);
      await writeFile(join(other.bucketFolder, 'x y.mp4'), 'frames');
      const endpoint = `http://${domain}:${port}`;
      const storage = {
        ...createStorage(),
        ...other,
        endpoint,
        publicEndpoint: endpoint,
        forcePathStyle: false,
      };
      const url = new URL(`${await listFiles(storage).signedUrl(at('x y.mp4', other.bucket), 60)}`);
      expect(url.host).toBe(`${other.bucket}.${domain}:${port}`);
      expect(await getFrom('127.0.0.1', url)).toEqual([200, 'frames']);
    } finally {
      await other.close();
    }
  });
});

/** Requests a host that no name server knows. */
function getFrom(host: string, url: URL): Promise<readonly [status: number | undefined, body: string]> {
  return new Promise((resolve, reject) => {
    const options = { host, port: url.port, path: url.pathname + url.search, headers: { host: url.host } };
    const sent = request(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      response.once('end', () => resolve([response.statusCode, body]));
    });
    sent.once('error', reject);
    sent.end();
  });
}

describe('an error of an object storage', () => {
  const WRONG = 'recording-storage-error';
  const DOWN = 'storage-unavailable';

  async function expectFault(
    storage: ObjectStorage | undefined,
    code: string,
    says: RegExp,
    { bucket = s3.bucket, timeoutMs }: { readonly bucket?: string; readonly timeoutMs?: number } = {},
  ) {
    const files = listFiles(storage, systemClock, timeoutMs);
    for (const work of [
      () => files.find(at('demo/x.mp4', bucket)),
      () => files.delete(at('demo/x.mp4', bucket)),
    ]) {
      const error = await work().then(
        () => ({ code: 'none', message: '' }),
        (thrown: { readonly code: string; readonly message: string }) => thrown,
      );
      expect(error.code).toBe(code);
      expect(error.message).toMatch(says);
      expect(error.message).not.toMatch(/127\.0\.0\.1|localhost|:\d{4,5}/);
      for (const secret of [s3.secretKey, s3.accessKey]) expect(error.message).not.toContain(secret);
    }
  }

  it('for a wrong access key names S3_ACCESS_KEY', () =>
    expectFault(createStorage({ accessKey: 'unknown' }), WRONG, /S3_ACCESS_KEY/));
  it('for a wrong secret names S3_SECRET_KEY', () =>
    expectFault(createStorage({ secretKey: 'wrong' }), WRONG, /S3_SECRET_KEY/));
  it('for a wrong region names S3_REGION', () =>
    expectFault(createStorage({ region: 'eu-north-1' }), WRONG, /S3_REGION|S3_SECRET_KEY/));
  it('for a missing bucket names S3_BUCKET', () =>
    expectFault(createStorage(), WRONG, /no bucket "nowhere".*S3_BUCKET/, { bucket: 'nowhere' }));
  it('for a missing configuration says so', () => expectFault(undefined, WRONG, /S3_BUCKET/));
  it('for a wrong clock names the clock', async () => {
    const clock = { ...systemClock, now: () => Date.now() - 3_600_000 };
    await expect(listFiles(createStorage(), clock).find(at('x.mp4'))).rejects.toMatchObject({
      code: WRONG,
      message: expect.stringContaining('clock'),
    });
  });

  it('is retryable when the storage is down', async () =>
    expectFault(
      createStorage({ endpoint: `http://127.0.0.1:${await freePort()}` }),
      DOWN,
      /does not respond/,
    ));
  it('is retryable when the host name is unknown', () =>
    expectFault(createStorage({ endpoint: 'http://s3.invalid' }), DOWN, /does not respond/));

  describe('for an address with another service', () => {
    let close: (() => void) | undefined;
    afterEach(() => close?.());
    async function serve(handle: Parameters<typeof createServer>[1]): Promise<ObjectStorage> {
      const server = createServer(handle as never);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      close = () => {
        server.close();
        server.closeAllConnections();
      };
      return createStorage({ endpoint: `http://127.0.0.1:${readPort(server)}` });
    }

    it('is reported within the timeout when that never responds', async () => {
      await expectFault(await serve(() => {}), DOWN, /does not respond/, { timeoutMs: 500 });
    });
    it('names the endpoint when that returns pages', async () => {
      const storage = await serve((_request, response) => response.writeHead(404).end('<h1>Not here</h1>'));
      await expectFault(storage, WRONG, /404.*S3_ENDPOINT/);
    });
    it('is reported when that redirects, which is not followed', async () => {
      const storage = await serve((_request, response) =>
        response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
      );
      await expectFault(storage, WRONG, /307/);
    });
    it('is retryable when that asks to slow down', async () => {
      const storage = await serve((_request, response) =>
        response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'),
      );
      await expectFault(storage, DOWN, /does not respond/);
    });
    it('is reported within the timeout and in little memory when that sends an endless error', async () => {
      const storage = await serve((_request, response) => {
        response.writeHead(500);
        const timer = setInterval(() => response.write('x'.repeat(1000)), 5);
        response.once('close', () => clearInterval(timer));
      });
      await expectFault(storage, DOWN, /does not respond/, { timeoutMs: 500 });
    });
  });
});

describe('a service whose bucket becomes unavailable', () => {
  let network: Network;
  let stage: Stage;
  beforeAll(async () => {
    network = await startNetwork(new URL(s3.url));
    const S3_ENDPOINT = network.url(s3.url);
    stage = await startStage({ environment: { ...bucketSettings(s3), S3_ENDPOINT } });
  });
  afterAll(async () => {
    await stage?.close();
    await network?.close();
  });

  const problem = async (method: string, { recordingId }: Recording, suffix = '') => {
    const response = await stage.service.call(method, `/v1/recordings/${recordingId}${suffix}`);
    const { type, detail } = response.json as Problem;
    return { status: response.status, code: type.split(':').at(-1), detail };
  };

  it('deletes nothing partially, and everything when the bucket is back', async () => {
    const recording = await stage.recordWhole();
    await network.cut();
    expect(await problem('GET', recording, '/download')).toMatchObject({
      status: 503,
      code: 'storage-unavailable',
    });
    expect(await problem('DELETE', recording)).toMatchObject({ status: 503, code: 'storage-unavailable' });
    expect(await stage.get(recording.recordingId)).toEqual(recording);
    await network.mend();
    const path = join(s3.bucketFolder, recording.file?.path ?? '');
    expect(existsSync(path)).toBe(true);
    expect((await stage.service.call('DELETE', `/v1/recordings/${recording.recordingId}`)).status).toBe(204);
    expect(existsSync(path)).toBe(false);
  });

  it('keeps a recording that could not be uploaded as failed, with the reason', async () => {
    const { egressId, roomId } = await stage.record();
    await network.cut();
    await stage.service.call('POST', `/v1/rooms/${roomId}/recording/stop`);
    await expect
      .poll(async () => (await stage.get(egressId)).status, { timeout: 60_000, interval: 50 })
      .toBe('failed');
    await network.mend();
    expect(await stage.get(egressId)).toMatchObject({
      sizeBytes: null,
      file: null,
      error: expect.any(String),
    });
    expect(await problem('GET', await stage.get(egressId), '/download')).toMatchObject({
      status: 404,
      code: 'recording-file-not-found',
    });
    expect((await stage.service.call('DELETE', `/v1/recordings/${egressId}`)).status).toBe(204);
  });
});

describe('a service with the wrong keys of its bucket', () => {
  it('names the wrong setting, and keeps the record', async () => {
    const stage = await startStage({ environment: { ...bucketSettings(s3), S3_SECRET_KEY: 'wrong' } });
    try {
      // It ends as failed, because the recorder has the same keys. It is unknown that there is no file.
      const recording = await stage.recordWhole();
      for (const [method, suffix] of [
        ['GET', '/download'],
        ['DELETE', ''],
      ] as const) {
        const response = await stage.service.call(method, `/v1/recordings/${recording.recordingId}${suffix}`);
        expect(response.status).toBe(502);
        expect(response.json).toMatchObject({
          type: 'urn:problem-type:rtc:recording-storage-error',
          detail: expect.stringContaining('S3_SECRET_KEY'),
        });
      }
      expect((await stage.service.call('GET', `/v1/recordings/${recording.recordingId}`)).status).toBe(200);
    } finally {
      await stage.close();
    }
  });
});
