import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { RouteResponse } from '../http/route.ts';

/*
 * Files that are compressed once and sent often, with an ETag for each encoding, so that a browser which has the file
 * gets 304.
 */

const ENCODINGS = ['br', 'gzip', 'identity'] as const;
type Encoding = (typeof ENCODINGS)[number];

export type PreparedFile = {
  /** Changes with the content. */
  readonly version: string;
  readonly open: (encoding: Encoding) => unknown;
};

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
/** A few hundred kilobytes take 30 ms with it, and are a tenth larger than with the slowest one. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

/** A text that is kept in memory, compressed. */
export async function prepareText(text: string): Promise<PreparedFile> {
  const identity = Buffer.from(text);
  const [br, gzipped] = await Promise.all([compressBrotli(identity, BROTLI), compressGzip(identity)]);
  const bodies = { br, gzip: gzipped, identity };
  return { version: versionOf(identity), open: (encoding) => bodies[encoding] };
}

/** A large file on disk, with its compressed forms beside it; it is never in memory as a whole. */
export async function prepareDiskFile(path: string): Promise<PreparedFile> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  const suffixes = { br: '.br', gzip: '.gz', identity: '' };
  return { version: shorten(hash), open: (encoding) => createReadStream(`${path}${suffixes[encoding]}`) };
}

/** 200 with the file in the best encoding that the caller accepts, or 304. */
export function sendPrepared(file: PreparedFile, request: IncomingHttpHeaders): RouteResponse {
  const encoding = chooseEncoding(request['accept-encoding']);
  const etag = `"${file.version}-${encoding}"`;
  const headers = { etag, vary: 'accept-encoding', 'cache-control': 'no-cache' };
  if (isKnown(request['if-none-match'], etag)) return { status: 304, headers };
  const encoded = encoding === 'identity' ? {} : { 'content-encoding': encoding };
  return { status: 200, body: file.open(encoding), headers: { ...headers, ...encoded } };
}

function chooseEncoding(accepted = ''): Encoding {
  const weights = new Map(
    accepted.split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      const weight = parameters.find((text) => text.startsWith('q='))?.slice(2);
      return [name, Number(weight ?? 1)];
    }),
  );
  const isAccepted = (encoding: Encoding): boolean => (weights.get(encoding) ?? weights.get('*') ?? 0) > 0;
  return ENCODINGS.find(isAccepted) ?? 'identity';
}

/** A proxy may have made the tag a weak one. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

function versionOf(content: Buffer): string {
  return shorten(createHash('sha256').update(content));
}

function shorten(hash: ReturnType<typeof createHash>): string {
  return hash.digest('base64url').slice(0, 16);
}
