/**
 * Selects the message of a fault. It is more specific than the reason. `stray-character`: neither a letter nor a digit.
 * `omocodia-letter`: a letter that replaces no digit, at the position of a digit. `check-digit`: of eleven digits.
 * `birth-date`: a day that does not exist in its year, or is in the future. `eleven-characters`: eleven, but not all digits.
 * `digit-count`: only digits, but not eleven. `office`, `organisation-office` and `running-number`: parts of eleven digits.
 * `vat-prefix`: IT before eleven digits; `country-prefix`: IT before another code; `identity-prefix`: TINIT- or VATIT-, with
 * which SPID and CIE deliver one.
 */
export type CheckDetail = keyof typeof englishCodeMessages;

/** The wrong part of the code. */
type Stretch = { readonly start: number; readonly end: number };

/** A message for each detail of a fault. */
export type CodeMessages = Readonly<Record<CheckDetail, (fault: Stretch) => string>>;

export const englishCodeMessages = {
  length: ({ end }) => `a codice fiscale has 16 characters, this one has ${end}`,
  'eleven-characters': () => 'a code of eleven characters has only digits',
  'digit-count': ({ end }) => `a code of digits only has eleven, this one has ${end}`,
  'running-number': () => 'the digits 1 to 7 cannot all be zero',
  office: () => 'the digits 8 to 10 are no office that ever issued codes',
  'organisation-office': () =>
    'the office (digits 8 to 10) of an organisation without VAT number is 001 to 095',
  'vat-prefix': () => 'this is a VAT number with its country: the number is the eleven digits after IT',
  'country-prefix': () => 'IT is the country; the code is what follows it',
  'identity-prefix': () =>
    'the first six characters are the prefix with which SPID and CIE deliver a code; the code is what follows it',
  'stray-character': ({ end }) => `character ${end} is neither a letter from A to Z nor a digit`,
  'letter-expected': ({ end }) => `character ${end} must be a letter from A to Z`,
  'digit-expected': ({ end }) => `character ${end} must be a digit`,
  'omocodia-letter': ({ end }) => `character ${end} must be a digit or, by omocodia, one of LMNPQRSTUV`,
  'check-character': () => 'the check character does not fit the fifteen before it',
  'check-digit': () => 'the last of the eleven digits does not fit the others',
  month: () => 'character 9 is the letter of no month',
  day: () => 'the day must be 01 to 31, or 41 to 71 for women',
  'day-of-month': () => 'the month does not have so many days',
  'birth-date': () => 'the birth date is not on the calendar of its year, or still to come',
  place: () => 'no comune and no state ever had this place code',
  'place-not-in-force': () => 'the place was not in force on the birth date',
  'provisional-code': () => "this is a provisional codice fiscale of eleven digits, not a person's final one",
  'vat-number': () => 'this is a VAT number, or the codice fiscale of an organisation, not of a person',
  'organisation-code': () => 'this is the codice fiscale of an organisation, not of a person',
} satisfies Readonly<Record<string, (fault: Stretch) => string>>;
