import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { versitygw } from '../../../scripts/parts/go-toolchain.ts';
import {
  freePort,
  type PartCommand,
  type RunningPart,
  runPart,
  untilReady,
  withFreshPorts,
} from './run-part.ts';

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
  /** Ends it by SIGKILL. What is stored stays. */
  kill(): Promise<void>;
  /** Starts it again at the same address, after it was killed. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

const region = 'us-east-1';
const bucket = 'recordings';

/**
 * Starts a real S3 server (versitygw) on a temporary folder. It checks signatures. With `virtualDomain` it also accepts the
 * bucket in the host name.
 */
export async function startS3({ virtualDomain }: { readonly virtualDomain?: string } = {}): Promise<S3> {
  const program = await versitygw.find();
  if (program === undefined) throw new Error('versitygw is not built: `npm test` builds it once');
  const folder = await mkdtemp(join(tmpdir(), 'rtc-s3-'));
  const [objects, sidecar] = [join(folder, 'objects'), join(folder, 'sidecar')];
  await Promise.all([mkdir(objects), mkdir(sidecar)]);
  const accessKey = randomBytes(10).toString('hex');
  const secretKey = randomBytes(20).toString('hex');
  return withFreshPorts(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const command: PartCommand = {
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
    };
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
    const start = async (): Promise<RunningPart> => {
      const started = runPart(command);
      await untilReady(started, 'versitygw', { isReady });
      return started;
    };
    let part = await start();
    const startAgain = async () => {
      part = await start();
    };
    const close = async () => {
      await part.close();
      await rm(folder, { recursive: true, force: true });
    };
    const bucketFolder = join(objects, bucket);
    const kill = async () => void (await part.kill());
    return { url, bucket, region, accessKey, secretKey, bucketFolder, kill, startAgain, close };
  });
}

/** The settings of a service whose recordings are in this bucket. */
export function bucketSettings(s3: S3): Readonly<Record<string, string>> {
  return {
    S3_BUCKET: s3.bucket,
    S3_ENDPOINT: s3.url,
    S3_REGION: s3.region,
    S3_ACCESS_KEY: s3.accessKey,
    S3_SECRET_KEY: s3.secretKey,
    S3_FORCE_PATH_STYLE: 'on',
  };
}
