import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliDecompress, createGzip, gzip } from 'node:zlib';
import { type TSchema, Type } from 'typebox';
import { ServiceError } from '../../../contract/errors.ts';
import { defineRoute, type Route, type RouteResponse } from '../http/route.ts';

/*
 * Files that are compressed once and sent often, with an ETag for each encoding, so that a browser that has the file gets
 * 304; and routes that send them.
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
async function sendPrepared(file: PreparedFile, request: IncomingHttpHeaders): Promise<RouteResponse> {
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

/** Returns whether the caller has this version. A proxy may have made the tag a weak one. */
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

/* Routes that send such files. */

const TextSchema = Type.String();

type Served = {
  readonly path: string;
  readonly contentType: string;
  readonly prepare: () => Promise<PreparedFile>;
  readonly headers?: Readonly<Record<string, string>>;
};

type Page = Served & {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema?: TSchema;
  readonly example?: string;
};

export function part(served: Served): Route {
  return { ...pageRoute({ ...served, ...PART, operationId: toOperationId(served.path) }), isInternal: true };
}

const PART = { summary: 'A part of the pages', description: 'A part of the pages' };

function toOperationId(path: string): string {
  return `get${path.replaceAll(/\W+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`;
}

type ServedByName = Omit<Served, 'prepare'> & {
  /** Returns undefined if there is nothing of this name. */
  readonly prepare: (name: string) => Promise<PreparedFile | undefined>;
};

/** Serves files of one kind, of which each is prepared at its first request. Only those that exist are kept. */
export function partByName({ path, contentType, headers, prepare }: ServedByName): Route {
  const kept = new Map<string, PreparedFile>();
  const find = async (name: string): Promise<PreparedFile> => {
    const prepared = kept.get(name) ?? (await prepare(name));
    if (prepared === undefined) {
      throw new ServiceError('route-not-found', 'There is no page with this address.', {
        hint: { text: 'see all pages at /docs' },
      });
    }
    kept.set(name, prepared);
    return prepared;
  };
  return defineRoute({
    ...describePage({ ...PART, operationId: toOperationId(path), path, contentType }),
    params: Type.Object({ name: Type.String() }),
    isInternal: true,
    errors: ['route-not-found'],
    handle: async ({ params, raw }) =>
      await respond(await find(params.name), raw.headers, { contentType, headers }),
  });
}

export function pageRoute({ prepare, ...page }: Page): Route {
  const prepared = once(prepare);
  return defineRoute({
    ...describePage(page),
    errors: [],
    handle: async ({ raw }) => await respond(await prepared(), raw.headers, page),
  });
}

function describePage({
  path,
  operationId,
  summary,
  description,
  contentType,
  ...page
}: Omit<Page, 'prepare'>) {
  const { schema = TextSchema, example } = page;
  const validators = { ETag: 'Changes with the content; for If-None-Match' };
  return {
    method: 'GET',
    path,
    operationId,
    tag: 'service',
    summary,
    description,
    security: 'public',
    success: {
      200: {
        description: summary,
        schema,
        contentType,
        headers: validators,
        ...(example === undefined ? {} : { example }),
      },
      304: { description: 'Not modified since the version that the caller has', headers: validators },
    },
  } as const;
}

async function respond(
  prepared: PreparedFile,
  request: IncomingHttpHeaders,
  {
    contentType,
    headers,
  }: { readonly contentType: string; readonly headers?: Served['headers'] | undefined },
): Promise<RouteResponse> {
  const { headers: sent, ...response } = await sendPrepared(prepared, request);
  return { ...response, headers: { 'content-type': `${contentType}; charset=utf-8`, ...sent, ...headers } };
}
