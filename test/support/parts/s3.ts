import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { findVersitygw } from '../../../scripts/parts/versitygw.ts';
import { freePort, runPart, untilReady, withFreshPorts } from './run-part.ts';

export interface S3 {
  /** http://127.0.0.1:PORT, for path-style addresses: `<url>/<bucket>/<key>`. */
  readonly url: string;
  /** An existing, empty bucket. */
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** The bucket as a folder, to read stored files without S3. */
  readonly bucketFolder: string;
  close(): Promise<void>;
}

const region = 'us-east-1';
const bucket = 'recordings';

/**
 * Starts a real S3 server (versitygw) on a temporary folder. It checks signatures. With `virtualDomain` it also accepts the
 * bucket in the host name.
 */
export async function startS3({ virtualDomain }: { readonly virtualDomain?: string } = {}): Promise<S3> {
  const program = await findVersitygw();
  if (program === undefined) throw new Error('versitygw is not built: `npm test` builds it once');
  const folder = await mkdtemp(join(tmpdir(), 'rtc-s3-'));
  const [objects, sidecar] = [join(folder, 'objects'), join(folder, 'sidecar')];
  await Promise.all([mkdir(objects), mkdir(sidecar)]);
  const accessKey = randomBytes(10).toString('hex');
  const secretKey = randomBytes(20).toString('hex');
  return withFreshPorts(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const part = runPart({
      name: 'versitygw',
      program,
      // The sidecar stores extended attributes, which not every temporary folder supports.
      args: [
        '--quiet',
        '--region',
        region,
        '--port',
        `127.0.0.1:${port}`,
        ...(virtualDomain === undefined ? [] : ['--virtual-domain', `${virtualDomain}:${port}`]),
        'posix',
        '--sidecar',
        sidecar,
        objects,
      ],
      env: { ...process.env, ROOT_ACCESS_KEY_ID: accessKey, ROOT_SECRET_ACCESS_KEY: secretKey },
    });
    const s3 = new AwsClient({
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      region,
      service: 's3',
      retries: 0,
    });
    // Creates the bucket as soon as the server listens. A second attempt finds it (409, "yours already").
    const isReady = async () =>
      [200, 409].includes((await s3.fetch(`${url}/${bucket}`, { method: 'PUT' })).status);
    await untilReady(part, 'versitygw', { isReady });
    const close = async () => {
      await part.close();
      await rm(folder, { recursive: true, force: true });
    };
    return { url, bucket, region, accessKey, secretKey, bucketFolder: join(objects, bucket), close };
  });
}
