import type { Readiness } from '../../contract/self-check.ts';
import { parseJson } from '../../contract/unknown-value.ts';
import type { CallOptions, SendOptions } from '../client-options.ts';
import { RtcError } from '../rtc-error.ts';

/** Gives a long poll its time limit: its wait, and 15 s for the call itself. */
export function withTimeLimit(options: CallOptions & { readonly wait?: number | undefined }): CallOptions {
  const { wait = 0, timeoutMs = wait === 0 ? undefined : wait * 1000 + 15_000 } = options;
  return { ...options, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}

export function withBody(body: object, options: CallOptions | undefined): SendOptions {
  return { ...options, body: JSON.stringify(body) };
}

/** Returns the query string with the values that are not undefined, each percent-encoded; empty without values. */
export function toQuery(values: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined);
  const encoded = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return encoded.length === 0 ? '' : `?${encoded.join('&')}`;
}

export function splitList(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]));
}

/** Returns the body of a service that is not ready. Throws the error again when the body has another shape. */
export function readReadiness(error: RtcError): Readiness {
  const value = parseJson(error.body ?? '');
  if (isReadiness(value)) return value;
  // It may be the page of a proxy, which the original error describes.
  throw error;
}

function isReadiness(value: unknown): value is Readiness {
  return typeof value === 'object' && value !== null && 'ready' in value && 'checks' in value;
}

/**
 * Returns whether a header can contain the text (RFC 9110, section 5.5). Text of a file often ends with a line end, which no
 * header can contain.
 */
export function isHeaderValue(text: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

/** The service's address: the origin to connect to, and the prefix of every path (`` or `/rtc`). */
export type ServiceUrl = { readonly origin: string; readonly prefix: string };

/** A base address that cannot be used. `reason` is text to follow the name of the setting. */
export class InvalidUrlError extends TypeError {
  readonly reason: string;

  constructor(reason: string, message = `the service's URL ${reason}`) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Splits a base address such as `https://rtc.example.org` or `https://example.org/rtc/`. The prefix is sent and
 * signed: a proxy that strips it from the path breaks the signature.
 * @throws InvalidUrlError
 */
export function parseServiceUrl(text: string): ServiceUrl {
  const url = parseUrl(text);
  if (url === undefined) {
    const reason = `${JSON.stringify(text)} is not a URL`;
    throw new InvalidUrlError(reason, `${reason} such as http://127.0.0.1:3000`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InvalidUrlError(`must start with http:// or https://, not ${url.protocol}//`);
  }
  // The message does not contain the value, because that may contain a password.
  if (url.username !== '' || url.password !== '') {
    throw new InvalidUrlError('must not contain a user name or password');
  }
  if (url.search !== '' || url.hash !== '')
    throw new InvalidUrlError('must not contain a query or a fragment');
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

/** Replaces URL.parse, which Node 20 does not have. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * Joins segments to a path below /v1, each percent-encoded. Dots are encoded too, so that no proxy takes a room named `..`
 * for a parent.
 */
export function toPath(...segments: readonly string[]): string {
  return `/v1${segments.map((segment) => `/${encodeSegment(segment)}`).join('')}`;
}

function encodeSegment(segment: string): string {
  if (/^\.{1,2}$/.test(segment)) return segment.replaceAll('.', '%2E');
  return encodeURIComponent(segment);
}

/** The largest page that the service gives of most lists: all items take the fewest requests. */
const LARGEST_PAGE = 200;

type Paging = { readonly limit?: number | undefined; readonly cursor?: string | undefined };

/** A page of a list, with the cursor of the next one; null or undefined after the last one. */
type Page<Name extends string, T> = { readonly [N in Name]: readonly T[] } & {
  readonly nextCursor?: string | null | undefined;
};

type List<Name> = {
  /** For the error about a server that repeats its cursor, which would never end. */
  readonly path: string;
  /** The member of a page that has its items. */
  readonly items: Name;
  readonly pageSize?: number;
};

/** Iterates over the items of all pages. Each page is fetched when the previous one has been read. */
export async function* itemsOfPages<const Name extends string, T, Options extends Paging>(
  { path, items, pageSize = LARGEST_PAGE }: List<Name>,
  options: Options,
  fetchPage: (page: Options) => Promise<Page<Name, T>>,
): AsyncGenerator<T, void, undefined> {
  let { cursor } = options;
  for (;;) {
    const page = await fetchPage({ limit: pageSize, ...options, cursor });
    yield* page[items];
    const { nextCursor } = page;
    if (nextCursor === undefined || nextCursor === null) return;
    if (nextCursor === cursor) throw repeatedCursor(path);
    cursor = nextCursor;
  }
}

export function repeatedCursor(path: string): RtcError {
  const detail = 'the service repeats the cursor of the page before';
  return new RtcError({ method: 'GET', path, code: 'unexpected-answer', detail });
}
