import { readdirSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SelfCheckList } from '../../../../src/contract/self-check.ts';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import { createRecordingStorage } from '../../../../src/server/recordings/files/create-recording-storage.ts';
import { readPort } from '../../../support/forwarding-server.ts';
import { freePort } from '../../../support/parts/run-part.ts';
import { bucketSettings, type S3, startS3 } from '../../../support/parts/s3.ts';
import { startTestService } from '../../../support/service.ts';

let s3: S3;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3?.close());

type BucketChange = Partial<{
  bucket: string;
  accessKey: string;
  secretKey: string;
  endpoint: string;
  publicEndpoint: string;
}>;

function checkStorage(changed: BucketChange = {}, filepath = 'lesson/trial.txt') {
  const { bucket, region, accessKey, secretKey, url: endpoint } = s3;
  const settings = { bucket, region, accessKey, secretKey, endpoint, ...changed };
  return createRecordingStorage({
    clock: systemClock,
    bucket: { publicEndpoint: settings.endpoint, forcePathStyle: true, ...settings },
    directory: '/nowhere',
    timeoutMs: 500,
  }).check(filepath);
}

describe('a test of the bucket', () => {
  it('finds no error, and leaves nothing behind', async () => {
    expect(await checkStorage()).toEqual({
      status: 'ok',
      detail: expect.stringMatching(/written.*deleted/),
      next: '',
    });
    expect(
      readdirSync(s3.bucketFolder, { recursive: true }).filter((name) => `${name}`.endsWith('.txt')),
    ).toEqual([]);
  });

  it.each([
    ['a wrong secret', { secretKey: 'wrong' }, /^cannot write: .*signature/, /S3_SECRET_KEY/],
    ['a wrong key', { accessKey: 'wrong' }, /^cannot write: .*access key/, /S3_ACCESS_KEY/],
    ['a bucket that is not there', { bucket: 'absent' }, /^cannot write: .*no bucket "absent"/, /S3_BUCKET/],
  ])('finds %s, and names the setting to check', async (_what, changed, detail, next) => {
    const check = await checkStorage(changed);
    expect(check).toEqual({
      status: 'fault',
      detail: expect.stringMatching(detail),
      next: expect.stringMatching(next),
    });
    for (const secret of [s3.secretKey, s3.accessKey, 'wrong'])
      expect(JSON.stringify(check)).not.toContain(secret);
  });

  it('finds that nothing listens there', async () => {
    const check = await checkStorage({ endpoint: `http://127.0.0.1:${await freePort()}` });
    expect(check).toEqual({
      status: 'fault',
      detail: 'cannot write: the object storage does not respond (ECONNREFUSED)',
      next: expect.stringMatching(/S3_ENDPOINT/),
    });
  });

  it('warns when only the public endpoint cannot be reached from here', async () => {
    const check = await checkStorage({ publicEndpoint: `http://127.0.0.1:${await freePort()}` });
    expect(check).toMatchObject({ status: 'warning', next: expect.stringMatching(/S3_PUBLIC_ENDPOINT/) });
  });
});

describe('a test of a bucket with restricted keys', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  /** A proxy to the real storage that denies the requests for which `isDenied` is true. */
  async function denying(isDenied: (message: IncomingMessage, earlier: readonly string[]) => boolean) {
    const earlier: string[] = [];
    server = createServer((message, response) => {
      const isNo = isDenied(message, earlier);
      earlier.push(message.method ?? '');
      if (isNo) {
        message.resume();
        response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
        return;
      }
      const { method, url: path, headers } = message;
      const onward = request(new URL(s3.url), { method, path, headers }, (upstream) => {
        response.writeHead(upstream.statusCode ?? 500, upstream.headers);
        upstream.pipe(response);
      });
      onward.on('error', () => response.destroy());
      message.pipe(onward);
    });
    const listening = server;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    return { endpoint: `http://127.0.0.1:${readPort(server)}`, earlier };
  }

  it.each([
    ['s3:PutObject', ['PUT'], /^cannot write: /],
    ['s3:GetObject', ['GET'], /^cannot read back: /],
    ['s3:DeleteObject', ['DELETE'], /^cannot delete: /],
  ])('names the missing right %s', async (right, methods, detail) => {
    const { endpoint } = await denying(({ method }) => methods.includes(method ?? ''));
    const check = await checkStorage({ endpoint });
    expect(check).toMatchObject({ status: 'fault', detail: expect.stringMatching(detail) });
    expect(check.next).toContain(`${right} on "${s3.bucket}"`);
  });

  it('names the missing right to distinguish missing objects', async () => {
    const { endpoint } = await denying((_message, earlier) => earlier.includes('DELETE'));
    expect(await checkStorage({ endpoint })).toMatchObject({
      detail: expect.stringMatching(/missing file/),
      next: expect.stringContaining('s3:ListBucket'),
    });
  });

  it('deletes its object even if it could not be read', async () => {
    const { endpoint, earlier } = await denying(({ method }) => method === 'GET');
    await checkStorage({ endpoint });
    expect(earlier).toEqual(['PUT', 'GET', 'DELETE']);
  });
});

describe('a test of the folder of recordings', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-trial-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const storageIn = (directory: string) =>
    createRecordingStorage({ clock: systemClock, bucket: undefined, directory });

  it('finds no error, and leaves nothing behind', async () => {
    const storage = storageIn(folder);
    expect(storage.kind).toBe('recording folder');
    expect((await storage.check('lesson/trial.txt')).status).toBe('ok');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('warns of a missing folder', async () => {
    expect(await storageIn(join(folder, 'absent')).check('x/trial.txt')).toMatchObject({
      status: 'warning',
      next: expect.stringMatching(/S3_BUCKET/),
    });
  });

  it('finds a folder that cannot be written', async () => {
    // The mode of a file would not prevent writing, because tests may run as root.
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect((await storageIn(file).check('x/trial.txt')).status).toBe('fault');
    await rm(file);
  });

  it('writes through no link, and over no file', async () => {
    const other = join(folder, 'other');
    await writeFile(other, 'kept');
    await symlink(other, join(folder, 'link.txt'));
    for (const path of ['x/link.txt', 'x/other']) {
      expect((await storageIn(folder).check(path)).status).toBe('fault');
    }
    expect(readdirSync(folder).sort()).toEqual(['link.txt', 'other']);
  });
});

describe('POST /v1/self-check', () => {
  it('returns what was found, without the keys', async () => {
    const service = await startTestService({
      environment: { ...bucketSettings(s3), S3_SECRET_KEY: 'wrong-one' },
    });
    try {
      const response = await service.call('POST', '/v1/self-check');
      expect(response.status).toBe(200);
      expect((response.json as SelfCheckList).checks).toContainEqual({
        check: 'bucket',
        status: 'fault',
        detail: 'cannot write: the object storage refuses the signature',
        next: 'check S3_SECRET_KEY',
      });
      expect(`${response.text}${JSON.stringify(service.logLines)}`).not.toContain('wrong-one');
    } finally {
      await service.close();
    }
  });
});

describe('the folder of a new recording', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-ready-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const makeReady = (path: string, directory = folder) =>
    createRecordingStorage({ clock: systemClock, bucket: undefined, directory }).makeReady(
      join(directory, path),
    );
  const readMode = (path: string) => statSync(join(folder, path)).mode & 0o777;

  it('is created with its parents, with the mode of the folder of recordings, whatever the umask', async () => {
    for (const mode of [0o777, 0o750]) {
      await chmod(folder, mode);
      await makeReady(`a${mode}/demo/x.mp4`);
      expect(readMode(`a${mode}`)).toBe(mode);
      expect(readMode(`a${mode}/demo`)).toBe(mode);
      expect(readdirSync(join(folder, `a${mode}/demo`))).toEqual([]);
    }
  });

  it('is not changed when it exists, even as a link', async () => {
    await chmod(folder, 0o777);
    await mkdir(join(folder, 'there'), { mode: 0o700 });
    await symlink(join(folder, 'there'), join(folder, 'link'));
    await makeReady('there/x.mp4');
    await makeReady('link/x.mp4');
    expect(readMode('there')).toBe(0o700);
  });

  it('is not created when the template has none', async () => {
    await chmod(folder, 0o700);
    await makeReady('x.mp4');
    expect(readdirSync(folder)).toEqual([]);
    expect(readMode('.')).toBe(0o700);
  });

  it('is left to the recorder when the folder of recordings is missing, or a file is in its place', async () => {
    await makeReady('demo/x.mp4', join(folder, 'absent'));
    await writeFile(join(folder, 'file'), 'kept');
    await makeReady('file/demo/x.mp4');
    expect(readdirSync(folder)).toEqual(['file']);
  });
});
