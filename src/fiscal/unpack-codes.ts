/**
 * Unpacks the place codes and the days on which they were in force, part by part, from the symbols in which the package
 * carries them (packed-symbols.ts). scripts/pack-fiscal-data.ts packs them, and code-table.ts describes what comes out.
 */
import { BASE64URL_DIGITS, DIGIT_VALUES, SLOTS_OF_PART, type Symbols } from './packed-symbols.ts';

/** The place codes of one part and their spans, as code-table.ts describes them. */
export type CodeBlocks = { readonly codes: string; readonly spans: string };

/**
 * The kinds of codes: unknown, undated, with one span, with several spans. Half of the dated ones begin with the kingdom, and
 * most of those with one span have not ended: that is part of the kind.
 */
export const KINDS = { unknown: 0, undated: 1, oneSpan: 2, several: 6, otherStart: 1, ended: 2 } as const;

/** The index of 17 March 1861, the first day of the kingdom, in the dates of spans. */
export const KINGDOM = 1;

/** Returns a function that unpacks the codes of a part. The symbols are indices, from 1, of so many dates. */
export const createCodeReader = (symbols: Symbols, dates: number): ((part: number) => CodeBlocks) => {
  const readKind = symbols.addKind({ below: 8, contexts: 8 });
  const readSpans = createSpanReader(symbols, dates);
  return (part) => {
    symbols.open(part);
    const spans = ['.....', '.....'];
    const indices = new Map<string, number>();
    let codes = '';
    let kind: number = KINDS.unknown;
    for (let number = 0; number < SLOTS_OF_PART; number++) {
      kind = readKind(kind);
      if (kind < KINDS.oneSpan) {
        codes += digitPair(kind);
        continue;
      }
      const texts = readSpans(kind);
      const text = texts.join('');
      const index = indices.get(text) ?? spans.length;
      if (index === spans.length) spans.push(...texts);
      indices.set(text, index);
      codes += digitPair(index);
    }
    return { codes, spans: spans.join('') };
  };
};

const createSpanReader = (symbols: Symbols, dates: number): ((kind: number) => readonly string[]) => {
  const readStart = symbols.addKind({ below: dates + 1 });
  const readEnd = symbols.addKind({ below: dates + 1 });
  const readNextStart = symbols.addKind({ below: dates + 1 });
  // One more than the dates stands before the end if yet another span follows.
  const readNextEnd = symbols.addKind({ below: dates + 2 });
  return (kind) => {
    const isSeveral = kind >= KINDS.several;
    let start = (kind & KINDS.otherStart) === 0 ? KINGDOM : readStart(0);
    let end = isSeveral || ((kind - KINDS.oneSpan) & KINDS.ended) !== 0 ? readEnd(0) : 0;
    const texts: string[] = [];
    for (let hasNext = isSeveral; hasNext; ) {
      texts.push(`B${digitPair(start)}${digitPair(end)}`);
      start = readNextStart(0);
      end = readNextEnd(0);
      hasNext = end > dates;
      if (hasNext) end = readNextEnd(0);
    }
    return [...texts, `A${digitPair(start)}${digitPair(end)}`];
  };
};

/**
 * Unpacks dates in ascending order, as counts of days since 1850 in months of 31. A step to the next one is a digit below 32,
 * or one that is larger by the 64 that it has, and one for the rest.
 */
export const unpackDates = (text: string): readonly number[] => {
  const dates: number[] = [];
  let date = FIRST_COUNT;
  for (let at = 0; at < text.length; at++) {
    const digit = digitAt(text, at);
    if (digit >= SHORT_STEPS) at += 1;
    date += digit < SHORT_STEPS ? digit : (digit - SHORT_STEPS) * 64 + digitAt(text, at);
    dates.push(date);
  }
  return dates;
};

/** The count of 1 January 1860, before the first date. */
export const FIRST_COUNT = 3720;

export const SHORT_STEPS = 32;

const digitAt = (text: string, at: number): number => DIGIT_VALUES[text.charCodeAt(at)] ?? 0;

/** Three digits of a count of days. */
export const dateDigits = (count: number): string =>
  BASE64URL_DIGITS.charAt(count >> 12) + digitPair(count & 4095);

const digitPair = (value: number): string =>
  BASE64URL_DIGITS.charAt(value >> 6) + BASE64URL_DIGITS.charAt(value & 63);
