import type { IncomingHttpHeaders } from 'node:http';

/*
 * Selects the part of a file that a response sends: RFC 9110, sections 13 (conditions) and 14 (ranges). For several ranges,
 * or a range that cannot be parsed, the response has the whole file: a server may ignore either.
 */

export type Representation = {
  readonly sizeBytes: number;
  /** Strong entity tag, with its quotes. */
  readonly etag: string;
  /** Unix milliseconds. HTTP dates have whole seconds. */
  readonly modifiedAt: number;
};

export type Selection =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly length: number }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'unsatisfiable' };

export function selectRange(headers: IncomingHttpHeaders, file: Representation): Selection {
  if (!isVersionAskedFor(headers, file)) return { kind: 'changed' };
  if (isUnchanged(headers, file)) return { kind: 'unchanged' };
  const range = /^bytes=(\d*)-(\d*)$/i.exec(headers.range?.replaceAll(' ', '') ?? '');
  if (range === null || !isRangeWanted(headers['if-range'], file)) return { kind: 'whole' };
  const [, first = '', last = ''] = range;
  return first === '' ? suffix(last, file.sizeBytes) : fromTo(first, last, file.sizeBytes);
}

export function httpDate(at: number): string {
  return new Date(at).toUTCString();
}

/** Selects the last `count` bytes. */
function suffix(count: string, size: number): Selection {
  if (count === '') return { kind: 'whole' };
  const length = Math.min(Number(count), size);
  return length === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', start: size - length, length };
}

function fromTo(first: string, last: string, size: number): Selection {
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  if (start >= size) return { kind: 'unsatisfiable' };
  return { kind: 'part', start, length: end - start + 1 };
}

/** When both headers are present only If-Match counts. It compares strongly, and our tags are strong. */
function isVersionAskedFor(headers: IncomingHttpHeaders, { etag, modifiedAt }: Representation): boolean {
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined) {
    return ifMatch.trim() === '*' || ifMatch.split(',').some((tag) => tag.trim() === etag);
  }
  const until = Date.parse(headers['if-unmodified-since'] ?? '');
  return Number.isNaN(until) || wholeSeconds(modifiedAt) <= until;
}

/** When both headers are present only If-None-Match counts. */
function isUnchanged(headers: IncomingHttpHeaders, { etag, modifiedAt }: Representation): boolean {
  const known = headers['if-none-match'];
  if (known !== undefined) {
    return known.trim() === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
  }
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return !Number.isNaN(since) && wholeSeconds(modifiedAt) <= since;
}

/** Returns false when the file is no longer the version of which the caller has a part. Then the whole file is sent. */
function isRangeWanted(condition: string | string[] | undefined, file: Representation): boolean {
  if (condition === undefined) return true;
  if (typeof condition !== 'string') return false;
  return condition === file.etag || Date.parse(condition) === wholeSeconds(file.modifiedAt);
}

function wholeSeconds(at: number): number {
  return Math.floor(at / 1000) * 1000;
}
