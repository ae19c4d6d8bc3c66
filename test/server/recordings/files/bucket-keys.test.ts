import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import type { ObjectStorage } from '../../../../src/server/recordings/files/bucket-files.ts';
import { createRecordingFiles } from '../../../../src/server/recordings/files/create-recording-files.ts';
import { createRecordingStorage } from '../../../../src/server/recordings/files/create-recording-storage.ts';
import { readPort } from '../../../support/forwarding-server.ts';
import { type S3, startS3 } from '../../../support/parts/s3.ts';

/* The bucket without S3_ACCESS_KEY and S3_SECRET_KEY: the keys come from where AWS' tools look for them. */

let s3: S3;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3?.close());

/** What the role's endpoints give, and what they were asked for. The bucket of these tests takes no session token. */
let lifetimeSeconds = 3600;
let token = '';
const requests: string[] = [];

const readKeys = () => ({
  Code: 'Success',
  AccessKeyId: s3.accessKey,
  SecretAccessKey: s3.secretKey,
  Token: token,
  Expiration: new Date(Date.now() + lifetimeSeconds * 1000).toISOString(),
});

/** The metadata service of a machine (IMDSv2), that of a container, and STS. */
const server: Server = createServer((request, response) => {
  const { method = '', url = '' } = request;
  const [path = ''] = url.split('?');
  requests.push(`${method} ${path}`);
  if (path === '/latest/api/token') response.end('imds-token');
  else if (path.endsWith('/security-credentials/')) response.end('recorder');
  else if (path.endsWith('/security-credentials/recorder')) response.end(JSON.stringify(readKeys()));
  else if (path === '/container') response.end(JSON.stringify(readKeys()));
  else if (method === 'POST') {
    const { AccessKeyId, SecretAccessKey, Token, Expiration } = readKeys();
    response.setHeader('content-type', 'text/xml');
    response.end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${AccessKeyId}</AccessKeyId><SecretAccessKey>${SecretAccessKey}</SecretAccessKey><SessionToken>${Token}</SessionToken><Expiration>${Expiration}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    );
  } else response.writeHead(404).end();
});
let endpoint: string;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  endpoint = `http://127.0.0.1:${readPort(server)}`;
});
afterAll(() => server.close());

beforeEach(() => {
  requests.length = 0;
  lifetimeSeconds = 3600;
  token = '';
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere/config');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere/credentials');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const storage = (): ObjectStorage & { readonly bucket: string } => ({
  bucket: s3.bucket,
  region: s3.region,
  endpoint: s3.url,
  publicEndpoint: s3.url,
  forcePathStyle: true,
});

const listFiles = () =>
  createRecordingFiles({ clock: systemClock, storage: storage(), directory: '/nowhere' });
const checkStorage = () =>
  createRecordingStorage({ clock: systemClock, bucket: storage(), directory: '/nowhere' }).check('probe.txt');

const at = (filepath: string) => ({ filepath, bucket: s3.bucket });

async function put(key: string, content: string): Promise<void> {
  const path = join(s3.bucketFolder, key);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
}

describe('a bucket without keys among the settings', () => {
  it.each([
    ['the role of the machine', () => ({ AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint })],
    ['the role of the container', () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${endpoint}/container` })],
    [
      'a web identity',
      async () => {
        const file = join(s3.bucketFolder, '..', 'identity-token');
        await writeFile(file, 'signed-by-the-cluster');
        return {
          AWS_WEB_IDENTITY_TOKEN_FILE: file,
          AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/recorder',
          AWS_ENDPOINT_URL_STS: endpoint,
          AWS_REGION: s3.region,
        };
      },
    ],
    [
      'a profile',
      async () => {
        const file = join(s3.bucketFolder, '..', 'credentials');
        await writeFile(
          file,
          `[files]\naws_access_key_id = ${s3.accessKey}\naws_secret_access_key = ${s3.secretKey}\n`,
        );
        return { AWS_PROFILE: 'files', AWS_SHARED_CREDENTIALS_FILE: file };
      },
    ],
    ['the environment', () => ({ AWS_ACCESS_KEY_ID: s3.accessKey, AWS_SECRET_ACCESS_KEY: s3.secretKey })],
  ])('is read with the keys of %s', async (_, readEnvironment) => {
    for (const [name, value] of Object.entries(await readEnvironment())) vi.stubEnv(name, value);
    expect(await checkStorage()).toMatchObject({ status: 'ok' });
  });

  it('renews keys before they expire, and keeps others', async () => {
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', endpoint);
    await put('a.mp4', 'frames');
    const countKeys = () => requests.filter((each) => each.endsWith('/security-credentials/recorder')).length;
    const files = listFiles();
    lifetimeSeconds = 120;
    await files.find(at('a.mp4'));
    expect(countKeys()).toBe(1);
    lifetimeSeconds = 3600;
    await files.find(at('a.mp4'));
    expect(countKeys()).toBe(2);
    await files.find(at('a.mp4'));
    expect(countKeys()).toBe(2);
  });

  it('signs no URL that outlives its keys', async () => {
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${endpoint}/container`);
    token = 'token-of-the-role';
    const files = listFiles();
    const readSeconds = async (seconds: number) => {
      const url = new URL(`${await files.signedUrl(at('b.mp4'), seconds)}`);
      expect(url.searchParams.get('X-Amz-Security-Token')).toBe(token);
      return Number(url.searchParams.get('X-Amz-Expires'));
    };
    expect(await readSeconds(300)).toBe(300);
    const capped = await readSeconds(24 * 3600);
    expect(capped).toBeGreaterThan(3000);
    expect(capped).toBeLessThanOrEqual(3600);
  });

  it('names the role, and no setting, where the bucket refuses its keys', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'unknown');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', s3.secretKey);
    const { next } = await checkStorage();
    expect(next).toBe('check the role or profile of this service');
    await expect(listFiles().find(at('a.mp4'))).rejects.toThrow(
      'The object storage does not know the access key: check the role or profile of this service.',
    );
  });

  it('reports that no keys were found', async () => {
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    expect(await checkStorage()).toEqual({
      status: 'fault',
      detail: 'cannot write: this service has no keys of the bucket',
      next: 'set S3_ACCESS_KEY and S3_SECRET_KEY, or give this service a role',
    });
    await expect(listFiles().find(at('a.mp4'))).rejects.toMatchObject({ code: 'recording-storage-error' });
  });
});
