import { type DateInput, toDateNumber } from './calendar-date.ts';

/**
 * Results of a check as small integers, for callers that check a million codes a second. Up to {@link
 * CHECK_STATUS}.validWithWarnings the code is valid.
 */
export const CHECK_STATUS = {
  valid: 0,
  validWithWarnings: 1,
  /** Not 16 characters. */
  length: 2,
  /** Has a character that no codice fiscale has at that position. */
  characters: 3,
  /** Has a letter that replaces no digit at the position of a digit. */
  omocodia: 4,
  checkCharacter: 5,
  /** Has a month letter or a day that does not exist, or, if the century is fixed, a date in the future. */
  date: 6,
  /** No comune or state ever had this code. */
  place: 7,
  /** `strict` only: the place was not in force on the birth date. */
  placeNotInForce: 8,
  /** Eleven digits: a provisional codice fiscale. */
  provisionalCode: 9,
  /** Eleven digits: a VAT number, or an organisation's codice fiscale, which is one number series. */
  vatNumber: 10,
  /** Eleven digits: the codice fiscale of an organisation without VAT number. */
  organisationCode: 11,
} as const;

export type CheckStatus = (typeof CHECK_STATUS)[keyof typeof CHECK_STATUS];

/** Reasons why a code is invalid, as texts. They have the same names as {@link CHECK_STATUS}. */
export type CheckReason = NonNullable<(typeof REASONS)[number]>;

const REASONS = [
  undefined,
  undefined,
  'length',
  'characters',
  'omocodia',
  'check-character',
  'date',
  'place',
  'place-not-in-force',
  'provisional-code',
  'vat-number',
  'organisation-code',
] as const;

/** Returns the reason of a status; undefined for a valid code. */
export const reasonOfStatus = (status: CheckStatus): CheckReason | undefined => REASONS[status];

export type CheckOptions = {
  /** The current date. A code is not read as a birth after it. */
  readonly asOf: DateInput;
  /** The first year of the century of birth (1800, 1900, 2000). Default: the latest possible century. */
  readonly century?: number | undefined;
  /** Rejects a place that was not in force on the birth date, instead of a warning. */
  readonly strict?: boolean | undefined;
};

/** Options, read once. */
export type Settings = {
  readonly today: number;
  /** 0: not fixed. */
  readonly century: number;
  readonly strict: boolean;
};

/** @throws TypeError if `asOf` is not a date or `century` is not a century: the caller's error, not the data's. */
export const readSettings = (options: CheckOptions): Settings => {
  const { asOf, century = 0, strict } = options ?? NO_OPTIONS;
  const today = readToday(asOf);
  const isStrict = strict === true;
  if (last.today === today && last.century === century && last.strict === isStrict) return last;
  if (century !== 0 && !(century >= 100 && century <= 9900 && century % 100 === 0)) {
    throw new TypeError('century must be the first year of one, such as 1900');
  }
  last = { today, century, strict: isStrict };
  return last;
};

/** The last settings. In a loop over many codes they are the same for each code. */
let last: Settings = { today: 0, century: 0, strict: false };

/** @throws TypeError if it is not a date. */
export const readToday = (asOf: unknown): number => {
  // In a loop over many codes the text is the same each time.
  if (asOf === lastToday.text && lastToday.date !== 0) return lastToday.date;
  const date = toDateNumber(asOf);
  if (date === 0) throw new TypeError('asOf must be a date: YYYY-MM-DD or {year, month, day}');
  // Only texts are remembered, because an object with the parts of a date can be changed.
  if (typeof asOf === 'string') lastToday = { text: asOf, date };
  return date;
};

let lastToday = { text: '', date: 0 };

const NO_OPTIONS: Partial<CheckOptions> = {};
