import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { RouteResponse } from '../platform/http/route.ts';

/*
 * Responses of /it. They change only with the data of a release, so that each has an ETag and may be cached. Long responses
 * are compressed.
 */

/** One page of an array, and the address of the next page. */
export type Page<T> = { readonly items: readonly T[]; readonly next: string | undefined };

export type PageQuery = { readonly limit?: string | undefined; readonly offset?: string | undefined };

/** Returns part of a list. Without a limit, everything from the offset on. */
export function slicePage<T>(
  all: readonly T[],
  query: PageQuery & Readonly<Record<string, unknown>>,
): Page<T> {
  const offset = Number(query.offset ?? 0);
  const limit = query.limit === undefined ? all.length : Number(query.limit);
  const end = offset + limit;
  const items = all.slice(offset, end);
  if (end >= all.length || limit === 0) return { items, next: undefined };
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, offset: String(end) }))
    if (value !== undefined) parameters.set(name, String(value));
  return { items, next: `?${parameters}` };
}

/** Responses that depend only on the data of the release may be cached for a day. */
const CACHE_CONTROL = 'public, max-age=86400';

/** Compressing a shorter response costs more than it saves. */
const MIN_COMPRESSED_BYTES = 1024;

/** Returns `body` as JSON: 304 when the caller has the current version, compressed when the caller accepts gzip. */
export function lastingResponse(
  headers: IncomingHttpHeaders,
  body: unknown,
  link?: string | undefined,
): RouteResponse {
  const text = JSON.stringify(body);
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const common = {
    etag,
    'cache-control': CACHE_CONTROL,
    vary: 'accept-encoding',
    ...(link === undefined ? {} : { link: `<${link}>; rel="next"` }),
  };
  if (isSame(headers['if-none-match'], etag)) return { status: 304, headers: common };
  const typed = { ...common, 'content-type': 'application/json; charset=utf-8' };
  const bytes = Buffer.from(text);
  return takesGzip(headers) && bytes.length >= MIN_COMPRESSED_BYTES
    ? { status: 200, body: gzipSync(bytes), headers: { ...typed, 'content-encoding': 'gzip' } }
    : { status: 200, body: bytes, headers: typed };
}

function isSame(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim());
  return tags.includes('*') || tags.some((tag) => tag.replace(/^W\//, '') === etag.replace(/^W\//, ''));
}

/** Whether the caller accepts gzip; `gzip;q=0` rejects it. */
function takesGzip(headers: IncomingHttpHeaders): boolean {
  const codings = String(headers['accept-encoding'] ?? '').split(',');
  return codings.some((coding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}
