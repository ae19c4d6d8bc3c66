/**
 * Packs tables for src/fiscal/packed-symbols.ts. A table is first listed as the symbols that its unpacker is to read. Then
 * the unpacker itself runs and asks for them one by one, which also tells in which context each is to be written.
 */

import { CODE_LETTERS, EVIDENCE_LETTERS, SHARED_MARKS } from '../src/fiscal/geography/unpack-places.ts';
import { FAR, OTHER_AREA, SEVERAL } from '../src/fiscal/geography/unpack-postal-codes.ts';
import {
  ALONE,
  BASE64URL_DIGITS,
  MOST_BITS,
  type Packed,
  RUNS,
  SLOTS_OF_PART,
  type Symbols,
  unpackSymbols,
} from '../src/fiscal/packed-symbols.ts';
import { FIRST_COUNT, KINDS, KINGDOM, SHORT_STEPS } from '../src/fiscal/unpack-codes.ts';

export type Period = {
  readonly name: string;
  readonly province: string;
  readonly from: string;
  readonly to: string;
};
export type Span = { readonly from: string; readonly to: string };
export type PackedPlace = {
  readonly slot: number;
  readonly periods: readonly Period[];
  /** Empty for an undated place. */
  readonly spans: readonly Span[];
  readonly aliases: readonly string[];
  /** The day after the last one of an undated place. */
  readonly ended: string;
  /** A letter for the evidence, then the codes of successors. */
  readonly successors: string;
};

/**
 * Packs the symbols of each part of a table. `unpack` gets symbols and returns all parts.
 * @throws Error if it asks for other symbols than these, or does not make the same of what was packed
 */
export const packSymbols = (
  values: readonly (readonly number[])[],
  unpack: (symbols: Symbols) => unknown,
): Packed => {
  const recorder = createRecorder(values);
  const meant = JSON.stringify(unpack(recorder));
  const packed = encode(recorder.recorded(), values.length);
  if (JSON.stringify(unpack(unpackSymbols(packed))) !== meant)
    throw new Error('what was packed unpacks to something else');
  return packed;
};

/** A symbol that was asked for: its part, and the code that it is to be written with. */
type Recorded = { readonly part: number; readonly value: number; readonly code: Code };
/** The code of a context of a kind: how often each symbol occurs. */
type Code = { readonly counts: number[]; lengths: readonly number[]; bits: readonly string[] };

/** Hands out the listed symbols in order, and records them. */
const createRecorder = (values: readonly (readonly number[])[]) => {
  const codes: Code[] = [];
  const recorded: Recorded[] = [];
  const next = values.map(() => 0);
  let part = 0;
  const addKind: Symbols['addKind'] = ({ below: size, contexts = 1 }) => {
    const own = Array.from({ length: contexts }, (): Code => {
      return { counts: new Array<number>(size).fill(0), lengths: [], bits: [] };
    });
    codes.push(...own);
    return (context) => {
      const at = next[part] ?? 0;
      const value = values[part]?.[at];
      const code = own[context];
      if (value === undefined || code === undefined || !(value >= 0 && value < size))
        throw new Error(`symbol ${at} of part ${part}: ${value} below ${size} in ${context} of ${contexts}`);
      next[part] = at + 1;
      code.counts[value] = (code.counts[value] ?? 0) + 1;
      recorded.push({ part, value, code });
      return value;
    };
  };
  return {
    addKind,
    open: (opened: number) => {
      part = opened;
    },
    recorded: () => {
      const left = values.findIndex((list, at) => next[at] !== list.length);
      if (left >= 0) throw new Error(`symbols of part ${left} are left`);
      return { codes, symbols: recorded };
    },
  };
};

type Recording = { readonly codes: readonly Code[]; readonly symbols: readonly Recorded[] };

const encode = ({ codes, symbols }: Recording, partCount: number): Packed => {
  for (const code of codes) {
    code.lengths = huffmanLengths(code.counts);
    code.bits = canonicalBits(code.lengths);
  }
  const parts = Array.from({ length: partCount }, () => [] as string[]);
  for (const { part, value, code } of symbols) parts[part]?.push(code.bits[value] ?? '');
  return {
    lengths: codes
      .map(({ lengths }) => lengths.map((length) => BASE64URL_DIGITS.charAt(length)).join(''))
      .join('')
      .replace(LONGEST_RUN, ({ length }) => RUNS.charAt(length - 2)),
    parts: parts.map((bits) => toDigits(bits.join(''))),
  };
};

const LONGEST_RUN = new RegExp(`A{2,${RUNS.length + 1}}`, 'g');

const toDigits = (bits: string): string =>
  (bits.match(/.{1,6}/g) ?? [])
    .map((six) => BASE64URL_DIGITS.charAt(Number.parseInt(six.padEnd(6, '0'), 2)))
    .join('');

/** Returns the bits of each symbol in a Huffman code; 0 for one that does not occur. */
const huffmanLengths = (counts: readonly number[]): number[] => {
  const lengths = counts.map(() => 0);
  let trees = counts.flatMap((count, symbol) => (count === 0 ? [] : [{ count, symbols: [symbol] }]));
  const [only] = trees;
  if (trees.length === 1 && only !== undefined) {
    lengths[only.symbols[0] ?? 0] = ALONE;
    return lengths;
  }
  while (trees.length > 1) {
    trees.sort((a, b) => a.count - b.count);
    const [first, second, ...others] = trees;
    if (first === undefined || second === undefined) break;
    const symbols = [...first.symbols, ...second.symbols];
    for (const symbol of symbols) lengths[symbol] = (lengths[symbol] ?? 0) + 1;
    trees = [...others, { count: first.count + second.count, symbols }];
  }
  // Rare symbols of a long tail weigh more until the longest code fits.
  if (Math.max(...lengths) > MOST_BITS)
    return huffmanLengths(counts.map((count) => (count === 0 ? 0 : (count >> 1) + 1)));
  return lengths;
};

/** Returns the code of each symbol: the shorter ones first, those of one length in the order of symbols. */
const canonicalBits = (lengths: readonly number[]): string[] => {
  const bits = lengths.map(() => '');
  let code = 0;
  for (let length = 1; length <= MOST_BITS; length++, code <<= 1) {
    for (const [symbol, own] of lengths.entries()) {
      if (own === length) bits[symbol] = (code++).toString(2).padStart(length, '0');
    }
  }
  return bits;
};

/** Counts days since 1850 in months of 31 days. */
export const countDays = (date: string): number => {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  return (year - 1850) * 372 + (month - 1) * 31 + day - 1;
};

export const dayAfter = (date: string): string =>
  new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);

/** The text of unpackDates. */
export const writeDates = (dates: readonly string[]): string => {
  const counts = [FIRST_COUNT, ...dates.map(countDays)];
  return dates
    .map((_, at) => {
      const step = (counts[at + 1] ?? 0) - (counts[at] ?? 0);
      const high = SHORT_STEPS + (step >> 6);
      if (high > 63) throw new Error(`${step} days are too many for a step`);
      return step < SHORT_STEPS
        ? BASE64URL_DIGITS.charAt(step)
        : BASE64URL_DIGITS.charAt(high) + BASE64URL_DIGITS.charAt(step & 63);
    })
    .join('');
};

export const PARTS: readonly number[] = Array.from({ length: 12_000 / SLOTS_OF_PART }, (_, part) => part);

const isOfPart =
  (part: number) =>
  ({ slot }: PackedPlace): boolean =>
    Math.floor(slot / SLOTS_OF_PART) === part;

const sortDates = (dates: readonly string[]): string[] =>
  [...new Set(dates)].filter((date) => date !== '').sort();

/** Returns the index of a date, from 1; 0 for none. */
const dateIndex = (dates: readonly string[], date: string): number =>
  date === '' ? 0 : dates.indexOf(date) + 1;

export const datesOfSpans = (places: readonly PackedPlace[]): string[] =>
  sortDates(places.flatMap(({ spans }) => spans.flatMap(({ from, to }) => [from, to])));

/** The symbols of createCodeReader. */
export const listCodes = (places: readonly PackedPlace[]): number[][] => {
  const dates = datesOfSpans(places);
  const bySlot = new Map(places.map((place) => [place.slot, place.spans]));
  const indexOfDate = (date: string): number => dateIndex(dates, date);
  const listSpans = ([first, ...others]: readonly Span[]): number[] => {
    if (first === undefined) return [KINDS.undated];
    const start = indexOfDate(first.from) === KINGDOM ? [] : [indexOfDate(first.from)];
    const kind =
      (others.length > 0 ? KINDS.several : KINDS.oneSpan) + (start.length > 0 ? KINDS.otherStart : 0);
    if (others.length === 0 && first.to === '') return [kind, ...start];
    if (others.length === 0) return [kind + KINDS.ended, ...start, indexOfDate(first.to)];
    return [
      ...[kind, ...start, indexOfDate(first.to)],
      ...others.flatMap(({ from, to }, at) => [
        indexOfDate(from),
        ...(at < others.length - 1 ? [dates.length + 1] : []),
        indexOfDate(to),
      ]),
    ];
  };
  return PARTS.map((part) =>
    Array.from({ length: SLOTS_OF_PART }, (_, number) => bySlot.get(part * SLOTS_OF_PART + number)).flatMap(
      (spans) => (spans === undefined ? [KINDS.unknown] : listSpans(spans)),
    ),
  );
};

/** The days that createPlaceReader gets beside those of spans. */
export const datesOfPlaces = (places: readonly PackedPlace[]): string[] =>
  sortDates(
    places.flatMap((place) => [
      place.ended,
      ...(isRegular(place)
        ? place.periods.slice(1).map(({ from }) => from)
        : place.periods.flatMap(({ from, to }) => [from, to])),
    ]),
  );

/** The symbols of createPlaceReader, for places in the order of their codes. Provinces are two letters each. */
export const listPlaces = (places: readonly PackedPlace[], provinces: string): number[][] => {
  const provinceNumber = (province: string): number => provinces.match(/../g)?.indexOf(province) ?? -1;
  const context: Context = { dates: datesOfPlaces(places), provinceNumber };
  return PARTS.map((part) =>
    places
      .filter(isOfPart(part))
      .flatMap((place) => [
        ...(isRegular(place) ? listRegular(place, context) : listIrregular(place, context)),
        ...(place.aliases.length === 0 ? [] : [place.aliases.length]),
        ...listEnding(place, context),
      ]),
  );
};

type Context = {
  readonly dates: readonly string[];
  readonly provinceNumber: (province: string) => number;
};

/** Whether the days of a place follow from its spans and from the first days of its later names. */
const isRegular = ({ periods, spans }: PackedPlace): boolean => {
  let span = 0;
  const areDaysKnown = periods.every(({ from }, at) => {
    const before = periods[at - 1];
    if (before === undefined) return from === spans[0]?.from;
    if (before.to !== '' && from === dayAfter(before.to)) return true;
    if (before.to !== spans[span]?.to) return false;
    span += 1;
    return from === spans[span]?.from;
  });
  const isWhole = span === spans.length - 1 && periods.at(-1)?.to === spans.at(-1)?.to;
  return spans.length === 0 || (areDaysKnown && isWhole);
};

const changeBits = (period: Period, before: Period | undefined): number =>
  (period.name === before?.name ? 0 : 1) + (period.province === before?.province ? 0 : 2);

const listRegular = ({ periods, spans, aliases }: PackedPlace, context: Context): number[] => {
  const values = [periods.length * 2 + (aliases.length > 0 ? 1 : 0)];
  for (const [at, period] of periods.entries()) {
    const before = periods[at - 1];
    const changed = changeBits(period, before);
    const isNextDay = before === undefined || (before.to !== '' && period.from === dayAfter(before.to));
    const isOtherSpan = spans.length > 0 && !isNextDay;
    if (at > 0) values.push(changed + (isOtherSpan ? 4 : 0));
    if ((changed & 2) !== 0) values.push(context.provinceNumber(period.province));
    if (at > 0 && spans.length > 0 && !isOtherSpan) values.push(context.dates.indexOf(period.from));
  }
  return values;
};

const listIrregular = ({ periods, aliases }: PackedPlace, context: Context): number[] => [
  ...[aliases.length > 0 ? 1 : 0, periods.length * 2],
  ...periods.flatMap((period, at) => {
    const changed = changeBits(period, periods[at - 1]);
    return [
      changed,
      ...((changed & 2) === 0 ? [] : [context.provinceNumber(period.province)]),
      ...[dateIndex(context.dates, period.from), dateIndex(context.dates, period.to)],
    ];
  }),
];

const listEnding = ({ spans, ended, successors }: PackedPlace, { dates }: Context): number[] => {
  const isUndated = spans.length === 0;
  if (!isUndated && spans.at(-1)?.to === '') return [];
  const gone = isUndated ? [dateIndex(dates, ended)] : [];
  const codes = successors.slice(1).match(/..../g) ?? [];
  const isDivided = successors.startsWith('d');
  const evidence = EVIDENCE_LETTERS.indexOf(successors.charAt(0)) * CODE_LETTERS.length;
  return [
    ...gone,
    ...(successors === '' ? [0] : []),
    ...codes.flatMap((code, at) => {
      const letter = CODE_LETTERS.indexOf(code.charAt(0));
      const follows = isDivided ? [at < codes.length - 1 ? 1 : 0] : [];
      const number = Number(code.slice(1));
      return [at === 0 ? evidence + letter : letter, number >> 5, number & 31, ...follows];
    }),
  ];
};

/** The texts of names that createPlaceReader gets, by part. */
export const writeNames = (places: readonly PackedPlace[]): { names: string[]; aliases: string[] } => {
  const ofParts = PARTS.map((part) => places.filter(isOfPart(part)));
  const namesOfPlace = ({ periods }: PackedPlace): string[] =>
    periods.flatMap(({ name }, at) => (name === periods[at - 1]?.name ? [] : [name]));
  return {
    names: ofParts.map((own) => shortenNames(own.flatMap(namesOfPlace))),
    aliases: ofParts.map((own) => shortenNames(own.flatMap(({ aliases }) => aliases))),
  };
};

const shortenNames = (names: readonly string[]): string =>
  names
    .map((name, at) => {
      const before = names[at - 1] ?? '';
      let shared = 0;
      while (shared < SHARED_MARKS.length - 1 && shared < name.length && name[shared] === before[shared])
        shared++;
      return SHARED_MARKS.charAt(shared) + name.slice(shared);
    })
    .join('');

/** The symbols of unpackPostalCodes, for the provinces and postal codes of comuni. */
export const listPostalCodes = (
  comuni: readonly { readonly province: number; readonly caps: readonly string[] }[],
): number[][] => {
  const areas = new Map<number, number>();
  const listArea = (area: number): number[] => [area >> 5, area & 31];
  const values = comuni.flatMap(({ province, caps }) => {
    const codes = caps.map(Number);
    const [first = 0, ...others] = codes;
    const area = Math.floor(first / 100);
    const moved = (areas.get(province) ?? 0) === area ? [] : [OTHER_AREA, ...listArea(area)];
    areas.set(province, area);
    if (others.length === 0) return [...moved, first % 100];
    const steps = others.flatMap((code, at) => {
      const step = code - (codes[at] ?? 0);
      return step < FAR ? [step] : [FAR, ...listArea(Math.floor(code / 100)), code % 100];
    });
    return [...moved, (first % 100) + SEVERAL, ...steps, 0];
  });
  return [values];
};
