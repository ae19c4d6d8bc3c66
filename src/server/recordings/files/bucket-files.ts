import { Readable } from 'node:stream';
import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { BucketSettings } from '../../platform/livekit/media-server.ts';
import { type KeyHolder, missingFile, readErrorCode, toServiceError, unavailable } from './bucket-errors.ts';
import type { FileLocation, RecordingFiles } from './recording-files.ts';

/** Without both keys they are found as by AWS' tools. */
export type ObjectStorage = Omit<BucketSettings, 'bucket'> & {
  /** The endpoint that receivers of pre-signed URLs use. */
  readonly publicEndpoint: string | undefined;
};

export type BucketFilesDeps = {
  readonly clock: Clock;
  /** Undefined when no bucket is configured. */
  readonly storage: ObjectStorage | undefined;
  readonly timeoutMs?: number;
};

/** Time for HEAD and DELETE of one object. A slower object storage counts as unavailable. */
const TIMEOUT_MS = 10_000;
/** Maximum bytes of an error document. S3's have a few hundred bytes. */
const MAX_DOCUMENT_BYTES = 8192;
const MISSING_CODES: readonly string[] = ['NoSuchKey', 'NoSuchVersion'];

/**
 * Reads objects of any S3 storage. Each recording stores its bucket, which may be an earlier one on the same storage. The S3
 * client is loaded when it is first used.
 */
export function createBucketFiles(
  deps: BucketFilesDeps,
): Omit<RecordingFiles, 'open' | 'removeEmptyFolders'> {
  const { storage } = deps;
  return {
    find: async (location) => {
      const response = await send(deps, location, { method: 'HEAD' });
      if (response.ok) return readFacts(response);
      // The response to a HEAD has no body. Only a GET distinguishes a missing object from a missing bucket or permission.
      const getResponse = await send(deps, location, { method: 'GET', headers: { range: 'bytes=0-0' } });
      if (getResponse.ok)
        throw unavailable(new Error(`HEAD responded with ${response.status}, GET ${getResponse.status}`));
      return await undefinedOrThrow(deps, getResponse, location);
    },
    read: async (location, start, length) => {
      const response = await ask(deps, location, {
        method: 'GET',
        headers: { range: `bytes=${start}-${start + length - 1}` },
      });
      if (response.status === 206 && response.body !== null) return Readable.fromWeb(response.body);
      if (response.ok) {
        await discard(response);
        throw unavailable(new Error(`a part was asked for, and the response is ${response.status}`));
      }
      await undefinedOrThrow(deps, response, location);
      throw missingFile();
    },
    signedUrl: async (location, expiresInSeconds) => {
      if (storage === undefined) return undefined;
      const url = new URL(buildAddress(storage, storage.publicEndpoint, location));
      const { expiration } = await readKeys(storage);
      const leftSeconds =
        expiration === undefined ? Infinity : (expiration.getTime() - deps.clock.now()) / 1000;
      const seconds = Math.max(1, Math.min(expiresInSeconds, Math.floor(leftSeconds)));
      url.searchParams.set('X-Amz-Expires', String(seconds));
      const signed = await sign(deps, storage, { method: 'GET', url: url.href, signQuery: true });
      return signed.url.href;
    },
    delete: async (location) => {
      const response = await send(deps, location, { method: 'DELETE' });
      if (!response.ok) await undefinedOrThrow(deps, response, location);
    },
    deleteHlsFolder: (location) => deleteHlsFolder(deps, location),
  };
}

/** Keys of one list: few enough for a small document. */
const KEYS_AT_ONCE = 200;

async function deleteHlsFolder(deps: BucketFilesDeps, location: FileLocation): Promise<void> {
  const folder = location.filepath.slice(0, location.filepath.lastIndexOf('/') + 1);
  if (!folder.endsWith('.hls/')) throw new Error('only a folder of HLS is deleted as a whole');
  for (;;) {
    const keys = await listKeys(deps, { bucket: location.bucket, folder });
    for (const filepath of keys) {
      const response = await send(deps, { bucket: location.bucket, filepath }, { method: 'DELETE' });
      if (!response.ok) await undefinedOrThrow(deps, response, location);
    }
    if (keys.length < KEYS_AT_ONCE) return;
  }
}

type FolderLocation = { readonly bucket: string | null; readonly folder: string };

/** Lists the first objects whose keys begin with the name of the folder, by ListObjectsV2. */
async function listKeys(
  deps: BucketFilesDeps,
  { bucket, folder }: FolderLocation,
): Promise<readonly string[]> {
  const query = { 'list-type': '2', 'max-keys': String(KEYS_AT_ONCE), prefix: folder };
  const location = { bucket, filepath: '' };
  const response = await ask(deps, location, { method: 'GET', query });
  if (!response.ok) {
    await undefinedOrThrow(deps, response, location);
    return [];
  }
  const text = await response.text().catch((cause: unknown) => {
    throw unavailable(cause);
  });
  const keys = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => decodeXml(key));
  return keys.filter((key) => key.startsWith(folder));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeXml(text: string): string {
  return text.replace(/&(#?\w+);/g, (whole, reference: string) => {
    if (!reference.startsWith('#')) return ENTITIES[reference] ?? whole;
    // `x1F` is a number after a zero.
    const code = Number(reference.replace(/^#(x?)/i, (_, x: string) => (x === '' ? '' : '0x')));
    return Number.isInteger(code) && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function readFacts({ headers }: Response) {
  const modifiedAt = Date.parse(headers.get('last-modified') ?? '');
  return {
    sizeBytes: Number(headers.get('content-length') ?? 0),
    modifiedAt: Number.isNaN(modifiedAt) ? 0 : modifiedAt,
  };
}

/** Returns undefined for a missing object, and throws every other error. */
async function undefinedOrThrow(
  { storage }: BucketFilesDeps,
  response: Response,
  { bucket }: FileLocation,
): Promise<undefined> {
  const code = readErrorCode(await readDocument(response));
  if (response.status === 404 && MISSING_CODES.includes(code ?? '')) return undefined;
  throw toServiceError({ status: response.status, code, bucket: bucket ?? '', keys: findKeyHolder(storage) });
}

export function findKeyHolder(storage: ObjectStorage | undefined): KeyHolder {
  return storage?.accessKey === undefined ? 'the role or profile of this service' : 'S3_ACCESS_KEY';
}

/** Returns the beginning of a body, up to the size of an error document. */
export async function readDocument(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_DOCUMENT_BYTES) break;
    }
  } catch (cause) {
    throw unavailable(cause);
  }
  return text;
}

type ObjectRequest = {
  readonly method: 'HEAD' | 'GET' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Sends a request and reads only the head of its response. */
async function send(
  deps: BucketFilesDeps,
  location: FileLocation,
  request: ObjectRequest,
): Promise<Response> {
  const response = await ask(deps, location, request);
  if (response.ok) await discard(response);
  return response;
}

/** Discards the body and its connection, which may be broken. */
async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}

/**
 * Sends a request. The timeout covers the head of a response and the body of an error; the body of an object may take
 * longer.
 */
export async function ask(
  deps: BucketFilesDeps,
  location: FileLocation,
  { method, headers = {}, query = {}, body }: ObjectRequest,
): Promise<Response> {
  const { storage, timeoutMs = TIMEOUT_MS } = deps;
  if (storage === undefined) throw notConfigured(location);
  const address = new URL(buildAddress(storage, storage.endpoint, location));
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  const signed = await sign(deps, storage, { method, url: address.href, headers });
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs).unref();
  const { signal } = timeout;
  try {
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    if (response.ok) clearTimeout(timer);
    return response;
  } catch (cause) {
    throw unavailable(cause);
  }
}

function buildAddress(storage: ObjectStorage, endpoint: string | undefined, location: FileLocation): string {
  const { region, forcePathStyle } = storage;
  return objectUrl({ bucket: location.bucket ?? '', region, endpoint, forcePathStyle }, location.filepath);
}

type Signable = {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signQuery?: boolean;
};

async function sign({ clock }: BucketFilesDeps, storage: ObjectStorage, request: Signable) {
  const { AwsV4Signer } = await import('aws4fetch');
  const keys = await readKeys(storage);
  const signer = new AwsV4Signer({
    ...request,
    service: 's3',
    region: storage.region,
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey,
    ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
    datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  return await signer.sign();
}

type BucketKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** When temporary keys end, and the URLs that they have signed. */
  readonly expiration?: Date | undefined;
};

const foundKeys = new WeakMap<ObjectStorage, Promise<() => Promise<BucketKeys>>>();

/**
 * Returns the keys of the settings. Without them, looks where AWS' tools do: the environment (AWS_ACCESS_KEY_ID), a profile, a
 * web identity, the role of the container, the role of the machine. Keys that were found are kept, and looked for again five
 * minutes before they end. The package that looks is large, and loaded only then.
 */
async function readKeys(storage: ObjectStorage): Promise<BucketKeys> {
  const { accessKey, secretKey, sessionToken } = storage;
  if (accessKey !== undefined && secretKey !== undefined) {
    return { accessKeyId: accessKey, secretAccessKey: secretKey, sessionToken };
  }
  const find = foundKeys.get(storage) ?? openKeyChain(storage);
  foundKeys.set(storage, find);
  try {
    return await (await find)();
  } catch (cause) {
    throw new ServiceError('recording-storage-error', 'This service has no keys of the bucket.', {
      hint: { text: NO_KEYS_STEP },
      cause,
    });
  }
}

/** The advice when no keys of the bucket were found. */
export const NO_KEYS_STEP = 'set S3_ACCESS_KEY and S3_SECRET_KEY, or give this service a role';

async function openKeyChain({ region }: ObjectStorage): Promise<() => Promise<BucketKeys>> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return defaultProvider({ clientConfig: { region } });
}

function notConfigured({ bucket }: FileLocation): ServiceError {
  return new ServiceError(
    'recording-storage-error',
    `The recording is in the bucket ${JSON.stringify(bucket)}, but no object storage is configured: set S3_BUCKET and its keys.`,
  );
}

/** Address of a bucket. Without `endpoint` it is at AWS. */
type BucketAddress = {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint: string | undefined;
  /** Whether the bucket's name is in the path instead of the host name. */
  readonly forcePathStyle: boolean;
};

/** URL of an object. The whole key is encoded, so that `%2F` and `?` in it are part of its name. */
function objectUrl(address: BucketAddress, key: string): string {
  const { bucket, region, endpoint, forcePathStyle } = address;
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  if (!forcePathStyle) url.host = `${bucket}.${url.host}`;
  const parts = forcePathStyle ? [bucket, ...key.split('/')] : key.split('/');
  const path = parts.map(encodePart).join('/');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}/${path}`;
}

/** Encodes as in RFC 3986, which AWS signs: encodeURIComponent leaves five characters unencoded. */
function encodePart(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
