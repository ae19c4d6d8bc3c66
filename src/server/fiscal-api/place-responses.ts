import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { findPlace, type Language } from '../../fiscal/index.ts';
import type { RouteResponse, SuccessResponse } from '../platform/http/route.ts';
import { FISCAL_ERROR_FORMAT, FISCAL_TEXTS, fiscalErrorResponse, languageHeaders } from './fiscal-errors.ts';

/** Properties that the routes about places share. */
export const PLACE_ROUTE = {
  method: 'GET',
  tag: 'places',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  errors: [],
} as const;

const CACHE_HEADERS = {
  ETag: 'Changes with the data of a release; for If-None-Match',
  'Cache-Control': 'A day',
  Vary: 'Accept-Encoding: long responses are compressed for callers that accept gzip',
};

/** Describes the responses of a route whose data change only with a release. */
export function lastingSuccess(
  description: string,
  schema: SuccessResponse['schema'],
  headers: Readonly<Record<string, string>> = {},
): Readonly<Record<number, SuccessResponse>> {
  return {
    200: { description, schema, headers: { ...CACHE_HEADERS, ...headers } },
    304: { description: 'Not modified since the version that the caller has', headers: CACHE_HEADERS },
  };
}

/** Returns the Belfiore code of the comune to which a place belongs today; the place's own code when none is known. */
export function belfioreCode(code: string): string {
  const found = findPlace(code);
  return found.ok ? (found.place.successor?.codiceCatastale ?? code) : code;
}

export function unknownProvince(language: Language): RouteResponse {
  return {
    ...fiscalErrorResponse(404, FISCAL_TEXTS[language].unknownProvince),
    headers: languageHeaders(language),
  };
}

/*
 * Responses of /it. They change only with the data of a release, so that each has an ETag and may be cached. Long responses
 * are compressed.
 */

/** One page of an array, and the address of the next page. */
type Page<T> = { readonly items: readonly T[]; readonly next: string | undefined };

type PageQuery = { readonly limit?: string | undefined; readonly offset?: string | undefined };

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

/** Returns whether the caller accepts gzip; `gzip;q=0` rejects it. */
function takesGzip(headers: IncomingHttpHeaders): boolean {
  const codings = String(headers['accept-encoding'] ?? '').split(',');
  return codings.some((coding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}
