/**
 * Unpacks the names and periods of places, at the first use of a part, from the symbols in which the package carries
 * them (packed-symbols.ts). scripts/pack-fiscal-data.ts packs them. The result is a line of text for each code, whose grammar
 * place-records.ts has. The line of A001 is `DPDBiIGzKABANO;FGzLABANO TERME`: two periods.
 *
 *     D  PD  BiI  GzK  ABANO          flags (name and province follow), province, first and last day, name
 *     F           GzL  ABANO TERME    flags (name follows, no end), first day, name; the province is the same
 *
 * The symbols of it are: the count 2 without aliases; the index of PD; the change CHANGED.name; the index of the day GzL. The
 * first and the last day come from the spans of the code, the day GzK is the one before GzL, and names have a list of their own.
 */
import { daysInMonth } from '../calendar-date.ts';
import { BASE64URL_DIGITS, DIGIT_VALUES, SLOTS_OF_PART, type Symbols } from '../packed-symbols.ts';
import { dateDigits } from '../unpack-codes.ts';

/** The parts that are not packed in symbols. */
export type KnownOfPlaces = {
  /** The abbreviations of all provinces, two letters each. */
  readonly provinces: string;
  /** Days that are in no span, as unpackDates returns them: of later names, and on which undated places were gone. */
  readonly dates: readonly number[];
  /** The names of all periods by part, and those in other languages, as {@link createNameReader} reads them. */
  readonly names: readonly string[];
  readonly aliases: readonly string[];
  /**
   * Returns the first and last days of a code, one span after the other, three digits each; an empty text is an unknown start
   * or no end. Returns no days for an undated code, undefined for an unknown one.
   */
  readonly readSpans: (slot: number) => readonly string[] | undefined;
};

/**
 * Returns a function that unpacks the block of a part, as place-records.ts describes it. A place begins and ends with its
 * spans, so that only the days between two of its names are packed.
 */
export const createPlaceReader = (symbols: Symbols, known: KnownOfPlaces): ((part: number) => string) => {
  const readers = createReaders(symbols, known);
  return (part) => {
    symbols.open(part);
    const ofPart: Readers = {
      ...readers,
      readName: createNameReader(known.names[part] ?? ''),
      readAlias: createNameReader(known.aliases[part] ?? ''),
    };
    const lines: string[] = [];
    for (let slot = part * SLOTS_OF_PART; slot < (part + 1) * SLOTS_OF_PART; slot++) {
      const spans = known.readSpans(slot);
      lines.push(spans === undefined ? '' : readLine(ofPart, { spans, isState: slot >= FIRST_STATE }));
    }
    return lines.join('~');
  };
};

const FIRST_STATE = 11_000;

type Place = { readonly spans: readonly string[]; readonly isState: boolean };

type Readers = ReturnType<typeof createReaders> & {
  readonly readName: () => string;
  readonly readAlias: () => string;
};

/**
 * The kinds of symbols, in the order of a place. A context is a number for what is known before a symbol and makes some
 * symbols likelier; each context has frequencies of its own. The context of a count, a province and evidence is computed by
 * the function that its comment names. The context of a change is the change before it, and that of a day the change beside it.
 */
const createReaders = ({ addKind }: Symbols, { provinces, dates }: KnownOfPlaces) => ({
  provinces,
  dates,
  /** Twice the number of periods, plus one if aliases follow; see {@link countContext}. */
  readCount: addKind({ below: 16, contexts: 6 }),
  /** The index of the first province; see {@link provinceContext}. */
  readProvince: addKind({ below: 128, contexts: FIRST_FREQUENT + FREQUENT_STARTS.length / 3 }),
  /** The index of a later province; its context is the province before. */
  readNextProvince: addKind({ below: 128, contexts: 128 }),
  /** The bits of {@link CHANGED}; their context is the change before. */
  readChange: addKind({ below: 8, contexts: 8 }),
  /** The index of the day on which a change without a new span took effect. */
  readDate: addKind({ below: dates.length, contexts: 5 }),
  /** The same from 1; 0 is no day. */
  readMaybeDate: addKind({ below: dates.length + 1 }),
  readAliasCount: addKind({ below: 64 }),
  /**
   * An index in {@link EVIDENCE_LETTERS} times the number of letters, plus the letter of the first successor; 0 if there is
   * none. See {@link evidenceContext}.
   */
  readEvidence: addKind({ below: 72, contexts: 4 }),
  /** A further successor's letter; then the number of any, in two halves. */
  readLetter: addKind({ below: 12 }),
  readHighNumber: addKind({ below: 32 }),
  readLowNumber: addKind({ below: 32 }),
  /** 1 if another successor follows. */
  isFollowed: addKind({ below: 2 }),
});

/** The parts in which a name differs from the one before it: a bit for each. */
const CHANGED = { name: 1, province: 2, span: 4 } as const;

/** The number of periods of a place whose days do not follow from its spans. */
const IRREGULAR = 0;

const readLine = (readers: Readers, place: Place): string => {
  const counts = readers.readCount(countContext(place));
  const periods =
    counts >> 1 === IRREGULAR
      ? readIrregularPeriods(readers)
      : readRegularPeriods(readers, place.spans, counts >> 1);
  const aliases = (counts & 1) === 0 ? '' : readAliases(readers);
  return periods + aliases + readEnding(readers, place);
};

/** 0 undated, 1 state, 2 comune with one span, 3 the same with an end, 4 comune with several spans, 5 the same with an end. */
const countContext = ({ spans, isState }: Place): number => {
  if (spans.length === 0) return 0;
  if (isState) return 1;
  return (spans.length > 2 ? 4 : 2) + (spans.at(-1) === '' ? 0 : 1);
};

const readRegularPeriods = (readers: Readers, spans: readonly string[], count: number): string => {
  const name = readers.readName();
  const province = readers.readProvince(provinceContext(spans[0], name));
  const first = { name, provinceLetters: provinceText(readers, province), from: spans[0] ?? '' };
  return count > 1
    ? readSeveralPeriods(readers, { spans, count, province, first })
    : writePeriod(first, spans[1] ?? '');
};

type Begun = {
  readonly spans: readonly string[];
  readonly count: number;
  readonly province: number;
  readonly first: PeriodStart;
};

const readSeveralPeriods = (readers: Readers, { spans, count, ...begun }: Begun): string => {
  let period = begun.first;
  let province = begun.province;
  let text = '';
  let at = 0;
  let change = 0;
  for (let left = count; left > 1; left--) {
    change = readers.readChange(change);
    const isElsewhere = (change & CHANGED.province) !== 0;
    const name = (change & CHANGED.name) === 0 ? '' : readers.readName();
    if (isElsewhere) province = readers.readNextProvince(province);
    const { to, from } = readDaysBetween(readers, spans.slice(at), change);
    if ((change & CHANGED.span) !== 0) at += 2;
    text += `${writePeriod(period, to)};`;
    period = { name, provinceLetters: isElsewhere ? provinceText(readers, province) : '', from };
  }
  return text + writePeriod(period, spans.at(-1) ?? '');
};

/** Returns the last day of a name and the first one of the next. */
const readDaysBetween = (
  { dates, readDate }: Readers,
  spans: readonly string[],
  change: number,
): { readonly to: string; readonly from: string } => {
  if (spans.length === 0) return { to: '', from: '' };
  if ((change & CHANGED.span) !== 0) return { to: spans[1] ?? '', from: spans[2] ?? '' };
  const first = dates[readDate(change)] ?? 0;
  return { to: dateDigits(dayBefore(first)), from: dateDigits(first) };
};

const readIrregularPeriods = (readers: Readers): string => {
  const count = readers.readCount(0) >> 1;
  let province = 0;
  const readDay = (): string => {
    const index = readers.readMaybeDate(0);
    return index === 0 ? '' : dateDigits(readers.dates[index - 1] ?? 0);
  };
  return Array.from({ length: count }, () => {
    const change = readers.readChange(0);
    const name = (change & CHANGED.name) === 0 ? '' : readers.readName();
    const isElsewhere = (change & CHANGED.province) !== 0;
    if (isElsewhere) province = readers.readNextProvince(province);
    const provinceLetters = isElsewhere ? provinceText(readers, province) : '';
    const from = readDay();
    return writePeriod({ name, provinceLetters, from }, readDay());
  }).join(';');
};

/** A name or province that is the same as in the period before is empty. */
type PeriodStart = { readonly name: string; readonly provinceLetters: string; readonly from: string };

/** The flags are those of place-records.ts: 1 for a name, 2 for a province, 4 for no end, 8 for no start. */
const writePeriod = ({ name, provinceLetters, from }: PeriodStart, to: string): string => {
  const flags =
    (name === '' ? 0 : 1) + (provinceLetters === '' ? 0 : 2) + (to === '' ? 4 : 0) + (from === '' ? 8 : 0);
  return BASE64URL_DIGITS.charAt(flags) + provinceLetters + from + to + name;
};

const provinceText = ({ provinces }: Readers, province: number): string =>
  provinces.slice(province * 2, province * 2 + 2);

/**
 * Tells a province apart by the first day, because a decree concerned one part of the country, or else by the decade. Of the
 * many places that began with the kingdom, the last letter tells most.
 */
const provinceContext = (start: string | undefined, name: string): number => {
  if (start === undefined) return 0;
  if (start === '') return 1;
  if (start === FIRST_DAY_OF_KINGDOM) return 3 + ENDINGS.indexOf(name.charAt(name.length - 1));
  const frequent = FREQUENT_STARTS.indexOf(start);
  // A match at another position begins within one of the days.
  if (frequent % 3 === 0) return FIRST_FREQUENT + frequent / 3;
  return 6 + (DIGIT_VALUES[start.charCodeAt(0)] as number);
};

/** 17 March 1861. */
const FIRST_DAY_OF_KINGDOM = 'BBK';

const ENDINGS = 'AEO';

/** The first days of many places each, such as those on which Veneto, Rome and Trentino became part of the kingdom. */
const FREQUENT_STARTS =
  'B3qB6SBK9BKEBKlBKoBKvBL2BL9BLBBLXBLhBLoBMIBMSBMZBM_BNKBNNBNXBNlBOqBS1BUJB_4BiIBlmBmDBmRBmmBmtBoCBooBriBvkCEgCEuGbeGcwPE4';

/** Decades are those of {@link dateDigits}: eleven years, from 0 to 16. */
const FIRST_FREQUENT = 6 + 17;

const readAliases = ({ readAliasCount, readAlias }: Readers): string =>
  Array.from({ length: readAliasCount(0) }, () => `@${readAlias()}`).join('');

/**
 * Reads how a place ended, after `#`: for an undated one `!` and the first day without it, then the evidence and successors.
 * Returns nothing for a place in force.
 */
const readEnding = (readers: Readers, { spans, isState }: Place): string => {
  if (spans.at(-1) === '') return '';
  const isUndated = spans.length === 0;
  const gone = isUndated ? readers.readMaybeDate(0) : 0;
  const evidence = readers.readEvidence(evidenceContext({ isUndated, isState, isGone: gone !== 0 }));
  if (gone === 0 && evidence === 0) return '';
  const text = gone === 0 ? '#' : `#!${dateDigits(readers.dates[gone - 1] ?? 0)}`;
  return evidence === 0 ? text : text + readSuccessors(readers, evidence);
};

type Ended = { readonly isUndated: boolean; readonly isState: boolean; readonly isGone: boolean };

/** Most undated places have no evidence, unless it is known when they were gone. States have other kinds of it than comuni. */
const evidenceContext = ({ isUndated, isState, isGone }: Ended): number => {
  if (isUndated) return isGone ? 1 : 0;
  return isState ? 2 : 3;
};

export const EVIDENCE_LETTERS = ' icsdt';
const DIVIDED = EVIDENCE_LETTERS.indexOf('d');

/** The letters with which codes begin. */
export const CODE_LETTERS = 'ABCDEFGHILMZ';

const readSuccessors = (readers: Readers, first: number): string => {
  const evidence = (first / CODE_LETTERS.length) | 0;
  let text = EVIDENCE_LETTERS.charAt(evidence);
  let letter = first % CODE_LETTERS.length;
  for (let hasNext = true; hasNext; ) {
    const number = readers.readHighNumber(0) * 32 + readers.readLowNumber(0);
    text += CODE_LETTERS.charAt(letter) + String(number).padStart(3, '0');
    hasNext = evidence === DIVIDED && readers.isFollowed(0) === 1;
    if (hasNext) letter = readers.readLetter(0);
  }
  return text;
};

/**
 * Reads names that are written without the letters that they share with the beginning of the name before: a mark for their
 * number, then the others. Names are in the order of codes, which is mostly that of the alphabet, and so half as long. They
 * are not coded further, because pages are compressed anyway, and this is quicker.
 */
const createNameReader = (text: string): (() => string) => {
  // Nothing, then mark and letters of each name in turn.
  const pieces = text.split(SHARED_MARK);
  let at = -1;
  let name = '';
  return () => {
    at += 2;
    name = name.slice(0, SHARED_MARKS.indexOf(pieces[at] as string)) + pieces[at + 1];
    return name;
  };
};

/** The marks by the number of shared letters: characters of which no name has one. */
export const SHARED_MARKS = '0123456789:;<>?@';

const SHARED_MARK = /([0-9:;<>?@])/;

/** Between these character codes are marks only, except for an equals sign, which some names have. */
export const FIRST_MARK = 48;
export const LAST_MARK = 64;
export const EQUALS_SIGN = 61;

/** The number of shared letters of a mark, by its character code. */
export const sharedLetters = (mark: number): number => mark - FIRST_MARK - (mark > EQUALS_SIGN ? 1 : 0);

/** Unpacks the ranks of so many comuni by their residents, a digit each. */
export const unpackRanks = ({ addKind, open }: Symbols, count: number): string => {
  const readRank = addKind({ below: 32 });
  open(0);
  return Array.from({ length: count }, () => BASE64URL_DIGITS.charAt(readRank(0))).join('');
};

/** Returns the day before, as a count of days in months of 31. */
const dayBefore = (count: number): number => {
  if (count % 31 > 0) return count - 1;
  const month = count / 31 - 1;
  return month * 31 + daysInMonth(1850 + ((month / 12) | 0), (month % 12) + 1) - 1;
};
