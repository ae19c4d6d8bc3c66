export type DateParts = { readonly day: number; readonly month: number; readonly year: number };

/**
 * Parses a date as people write it in Italy: `01/02/1980`, `1-2-1980`, `1.2.1980`, `1 2 1980`, `01021980`, `1 febbraio
 * 1980`, `1 feb. 1980`; or with the year first, `1980-02-01`. A time after it is ignored. The day comes before the month. Whether
 * there is such a day is not checked. Returns undefined for anything else: years of two digits could be of either century.
 */
export function dateOfText(text: string): DateParts | undefined {
  const plain = plainDate(text);
  if (plain !== undefined) return plain;
  const bare = text.trim().replace(TIME, '');
  for (const form of FORMS) {
    const { day, month, year } = form.exec(bare)?.groups ?? {};
    if (day === undefined || month === undefined || year === undefined) continue;
    const number = /^\d/.test(month) ? Number(month) : monthOfName(month);
    return number === undefined ? undefined : { day: Number(day), month: number, year: Number(year) };
  }
  return undefined;
}

/** Parses `DD/MM/YYYY` without a pattern, because nearly all dates of a file have this form. */
function plainDate(text: string): DateParts | undefined {
  if (text.length !== 10 || text.charCodeAt(2) !== SLASH || text.charCodeAt(5) !== SLASH) return undefined;
  const day = number(text, 0, 2);
  const month = number(text, 3, 5);
  const year = number(text, 6, 10);
  return Number.isNaN(day + month + year) ? undefined : { day, month, year };
}

const SLASH = 47;

function number(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

const TIME = /[T ]\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/;

const FORMS: readonly RegExp[] = [
  /^(?<day>\d{1,2})(?<mark>[/. -])(?<month>\d{1,2})\k<mark>(?<year>\d{4})$/,
  /^(?<year>\d{4})(?<mark>[/. -])(?<month>\d{1,2})\k<mark>(?<day>\d{1,2})$/,
  /^(?<day>\d{2})(?<month>\d{2})(?<year>\d{4})$/,
  /^(?<day>\d{1,2})[\s°º/-]+(?<month>[a-z]+)\.?[\s/-]+(?<year>\d{4})$/i,
];

const MONTHS = [
  'gennaio',
  'febbraio',
  'marzo',
  'aprile',
  'maggio',
  'giugno',
  'luglio',
  'agosto',
  'settembre',
  'ottobre',
  'novembre',
  'dicembre',
];

/** Finds a month by at least three letters of its Italian name. */
function monthOfName(name: string): number | undefined {
  const typed = name.toLowerCase();
  const at = typed.length < 3 ? -1 : MONTHS.findIndex((month) => month.startsWith(typed));
  return at < 0 ? undefined : at + 1;
}
