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
  /** A character where no codice fiscale has one. */
  characters: 3,
  /** At the place of a digit, a letter that stands for none. */
  omocodia: 4,
  checkCharacter: 5,
  /** A month letter or day that no calendar has, or, where the century is fixed, a date to come. */
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

/** Why a code is invalid, in words; the same catalogue as {@link CHECK_STATUS}. */
export type CheckReason =
  | 'length'
  | 'characters'
  | 'omocodia'
  | 'check-character'
  | 'date'
  | 'place'
  | 'place-not-in-force'
  | 'provisional-code'
  | 'vat-number'
  | 'organisation-code';

const REASONS: readonly (CheckReason | undefined)[] = [
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
];

/** The reason of a status; undefined for a valid code. */
export const reasonOfStatus = (status: CheckStatus): CheckReason | undefined => REASONS[status];

export type CheckOptions = {
  /** Today, for the caller: no code is read as a birth after it. */
  readonly asOf: DateInput;
  /** The first year of the century of birth (1800, 1900, 2000); without it the latest possible one is read. */
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

/** @throws TypeError when `asOf` is no date or `century` no century: an error of the caller, not of the data. */
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

/** The settings read last: a run over many has the same for each code. */
let last: Settings = { today: 0, century: 0, strict: false };

/** @throws TypeError for what is no date. */
export const readToday = (asOf: unknown): number => {
  // A run over many reads the same text each time.
  if (asOf === lastToday.text && lastToday.date !== 0) return lastToday.date;
  const date = toDateNumber(asOf);
  if (date === 0) throw new TypeError('asOf must be a date: YYYY-MM-DD or {year, month, day}');
  // Parts of a date could be changed by their owner.
  if (typeof asOf === 'string') lastToday = { text: asOf, date };
  return date;
};

let lastToday = { text: '', date: 0 };

const NO_OPTIONS: Partial<CheckOptions> = {};
