import { createHash } from 'node:crypto';
import { MAX_PREFIX_LENGTH, MOST_PREFIX_PARTS, PREFIX_ENDS } from '../../../../contract/keys.ts';
import type { TermQuery } from './term-query.ts';

/*
 * Marks are terms that no text contains: they say where, when and in which language a segment was spoken. A search for a word
 * in one room is a search for the word and the mark of the room, so that the index skips the segments of all other rooms.
 *
 * Times are marked at six levels: a segment has the number of its span of 19 hours, of 6 days, and so on to 70 years. A search
 * has the fewest marks that together are the time that it asks for; the database compares the instants afterwards.
 */

/** Keys of one block: PostgreSQL marks segments with it, and a search reads whole blocks. */
export const BLOCK_KEYS = 4_096;

/** Length of a span of the lowest level in milliseconds, 18.6 hours. */
const LOWEST_SPAN_MS = 2 ** 26;
/** Spans of a level in one of the next. */
const SPANS = 8;
const LEVELS = 6;
/** Searches mark times from 2020 to 2178; what lies outside is marked like its end. */
const FIRST_SPAN = Math.floor(Date.UTC(2020, 0, 1) / LOWEST_SPAN_MS);
const LAST_SPAN = 3 * SPANS ** (LEVELS - 1) - 1;

export type Marked = { readonly room: string; readonly language: string; readonly startedAt: number };

export function segmentMarks({ room, language, startedAt }: Marked): readonly string[] {
  const span = spanOf(startedAt);
  const times = Array.from({ length: LEVELS }, (_, level) =>
    timeMark(level, Math.floor(span / SPANS ** level)),
  );
  return [roomMark(room), ...prefixMarks(room), languageMark(language), ...times];
}

/** A name may have any characters, and a term only letters and digits. */
export function roomMark(room: string): string {
  return `r:${createHash('sha256').update(room).digest('hex').slice(0, 16)}`;
}

/** The mark of all rooms whose names begin so, up to and with a character that ends a part of a name. */
export function prefixMark(prefix: string): string {
  return `p:${roomMark(prefix).slice(2)}`;
}

const PREFIX_END = new RegExp(`[${PREFIX_ENDS}]`, 'g');

/** The marks of all prefixes that a key with the room can have. */
function prefixMarks(room: string): readonly string[] {
  const ends = [...room.slice(0, MAX_PREFIX_LENGTH).matchAll(PREFIX_END)].slice(0, MOST_PREFIX_PARTS);
  return ends.map(({ index }) => prefixMark(room.slice(0, index + 1)));
}

/** The mark of the first part of a BCP 47 tag. */
export function languageMark(tag: string): string {
  const [language = ''] = tag.toLowerCase().split('-', 1);
  return `l:${language.replace(/[^\p{L}\p{N}]/gu, '')}`;
}

/** Returns the condition that the key of a segment is in one of the blocks of these keys; `end` is one more than the last. */
export function blockQuery(first: number, end: number): TermQuery {
  const firstBlock = Math.floor(first / BLOCK_KEYS);
  const blocks = Math.floor((end - 1) / BLOCK_KEYS) - firstBlock + 1;
  return { any: Array.from({ length: blocks }, (_, index) => ({ phrase: [`b:${firstBlock + index}`] })) };
}

/** Returns the condition that a segment began in the time, in Unix milliseconds, or in a span that it shares with it. */
export function timeQuery(since: number | undefined, until: number | undefined): TermQuery {
  const last = until === undefined ? LAST_SPAN : spanOf(until);
  const marks: string[] = [];
  for (let span = since === undefined ? FIRST_SPAN : spanOf(since); span <= last; ) {
    let level = 0;
    while (level < LEVELS - 1 && fits(span, last, SPANS ** (level + 1))) level += 1;
    marks.push(timeMark(level, span / SPANS ** level));
    span += SPANS ** level;
  }
  return { any: marks.map((mark) => ({ phrase: [mark] })) };
}

function fits(span: number, last: number, length: number): boolean {
  return span % length === 0 && span + length - 1 <= last;
}

function spanOf(instant: number): number {
  return Math.min(Math.max(Math.floor(instant / LOWEST_SPAN_MS), FIRST_SPAN), LAST_SPAN);
}

function timeMark(level: number, span: number): string {
  return `t${level}:${span}`;
}
