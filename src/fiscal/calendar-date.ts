/**
 * Civil dates without a clock or a time zone. Inside the library a date is one integer, year * 10000 + month * 100 + day,
 * so that comparing two dates is comparing two numbers; 0 means "no date".
 */

/** A date of the Gregorian calendar: ISO text `YYYY-MM-DD`, or its parts (month 1 to 12, day 1 to 31). */
export type DateInput = string | { readonly year: number; readonly month: number; readonly day: number };

const DAYS_IN_MONTH = new Uint8Array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]);

/** The date as an integer, or 0 when the input is not a real date of the years 1 to 9999. */
export const toDateNumber = (input: unknown): number => {
  if (typeof input === 'string') return isoToDateNumber(input);
  if (typeof input !== 'object' || input === null) return 0;
  const { year, month, day } = input as { year?: unknown; month?: unknown; day?: unknown };
  if (typeof year !== 'number' || typeof month !== 'number' || typeof day !== 'number') return 0;
  return partsToDateNumber(year, month, day);
};

/** Does the same for parts. Fractions, NaN and infinities are not dates. */
const partsToDateNumber = (year: number, month: number, day: number): number => {
  if (!(year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1)) return 0;
  if ((year | 0) !== year || (month | 0) !== month || (day | 0) !== day) return 0;
  return day <= daysInMonth(year, month) ? year * 10_000 + month * 100 + day : 0;
};

export const daysInMonth = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : (DAYS_IN_MONTH[month] ?? 0);

/** Returns the ISO text of a date number, which must be a valid date. */
export const toIsoDate = (date: number): string => {
  const year = (date / 10_000) | 0;
  const text = monthDayTexts[date % 10_000] || monthDayText(date % 10_000);
  return year > 999 ? `${year}${text}` : `${String(year).padStart(4, '0')}${text}`;
};

/**
 * Texts by month * 100 + day, each made at its first use. The array is full, because engines hash the indices of sparse
 * ones.
 */
const monthDayTexts: string[] = new Array<string>(1232).fill('');

const monthDayText = (monthDay: number): string => {
  const month = (monthDay / 100) | 0;
  const day = monthDay % 100;
  const text = `-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`;
  monthDayTexts[monthDay] = text;
  return text;
};

const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const isoToDateNumber = (text: string): number => {
  if (text.length !== 10 || text.charCodeAt(4) !== HYPHEN || text.charCodeAt(7) !== HYPHEN) return 0;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  return year < 0 || month < 0 || day < 0 ? 0 : partsToDateNumber(year, month, day);
};

const HYPHEN = 45;

const digits = (text: string, start: number, end: number): number => {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
};
