import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliDecompress, createGzip, gzip } from 'node:zlib';
import type { RouteResponse } from '../http/route.ts';

/*
 * Files that are compressed once and sent often, with an ETag for each encoding, so that a browser that has the file gets
 * 304.
 */

const ENCODINGS = ['br', 'gzip', 'identity'] as const;

type Encoding = (typeof ENCODINGS)[number];

export type PreparedFile = {
  /** A text that changes with the content. */
  readonly version: string;
  readonly open: (encoding: Encoding) => Promise<Buffer | Readable>;
};

const compressBrotli = promisify(brotliCompress);

const compressGzip = promisify(gzip);

/** With this quality a few hundred kilobytes take 30 ms, and are a tenth larger than with the slowest one. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

/** Prepares a text, which is kept in memory in compressed form. */
export async function prepareText(text: string): Promise<PreparedFile> {
  const identity = Buffer.from(text);
  const [br, gzipped] = await Promise.all([compressBrotli(identity, BROTLI), compressGzip(identity)]);
  const bodies = { br, gzip: gzipped, identity };
  return { version: hashContent(identity), open: async (encoding) => bodies[encoding] };
}

/**
 * Prepares a large file that is stored only in brotli, as PATH.br: its other forms would take four times the space in every
 * package. Browsers ask for gzip when the page has no TLS, so that form is made at the first such request and kept. The
 * plain form, which only tools ask for, is decompressed while it is sent.
 */
export async function prepareBrotliFile(path: string): Promise<PreparedFile> {
  const stored = `${path}.br`;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(stored)) hash.update(chunk);
  const unpack = (): Readable => createReadStream(stored).compose(createBrotliDecompress());
  const compressed = once(async () => await buffer(unpack().compose(createGzip())));
  return {
    version: shorten(hash),
    open: async (encoding) => {
      if (encoding === 'gzip') return await compressed();
      return encoding === 'br' ? createReadStream(stored) : unpack();
    },
  };
}

/** Returns 200 with the file in the best encoding that the caller accepts, or 304. */
export async function sendPrepared(file: PreparedFile, request: IncomingHttpHeaders): Promise<RouteResponse> {
  const encoding = chooseEncoding(request['accept-encoding']);
  const etag = `"${file.version}-${encoding}"`;
  const headers = { etag, vary: 'accept-encoding', 'cache-control': 'no-cache' };
  if (isKnown(request['if-none-match'], etag)) return { status: 304, headers };
  const encoded = encoding === 'identity' ? {} : { 'content-encoding': encoding };
  return { status: 200, body: await file.open(encoding), headers: { ...headers, ...encoded } };
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

/** Whether the caller has this version. A proxy may have made the tag a weak one. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

function hashContent(content: Buffer): string {
  return shorten(createHash('sha256').update(content));
}

function shorten(hash: ReturnType<typeof createHash>): string {
  return hash.digest('base64url').slice(0, 16);
}

/**
 * Runs `work` at the first call and returns the same result from then on. A failure is not kept: the next call tries again.
 */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
