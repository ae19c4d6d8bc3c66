/**
 * Omocodia, DM 23 December 1976 (art. 6): when two people would get one code, digits give way to letters, and the
 * check character is computed anew. Each of the seven digits can be replaced or not: 128 forms of one code, known
 * by a mask whose lowest bit is the rightmost digit.
 */
import { DIGITS, SUBSTITUTES } from './characters.ts';
import { checkLetterIndex, EVEN_VALUES, ODD_VALUES } from './check-character.ts';
import { type CheckFailure, explainFailure } from './check-failure.ts';
import { CHECK_STATUS, type CheckOptions, readSettings } from './check-status.ts';
import { CODE_LENGTH, inspectText, parts, textBytes } from './inspect-code.ts';

export type OmocodieResult = {
  readonly ok: true;
  /** The form without substitutions. */
  readonly baseCode: string;
  /** The other 127 forms: the base first, then counting in binary, the rightmost digit lowest. */
  readonly omocodie: readonly string[];
};

/** What omocodia did to a code. */
export type OmocodiaDetail = {
  /** How many digits are replaced: 0 for a base code, up to 7. */
  readonly level: number;
  /** The indices, from 0, of the replaced digits in the code, from left to right. */
  readonly positions: readonly number[];
};

/**
 * All the other forms of a valid code, whichever of the 128 is given.
 *
 * @throws TypeError only for options that make no sense.
 */
export const omocodie = (code: string, options: CheckOptions): OmocodieResult | CheckFailure => {
  const status = inspectText(code, readSettings(options));
  if (status > CHECK_STATUS.validWithWarnings) return explainFailure(code, status);
  const given = parts.mask;
  toBaseForm();
  const codes = allForms();
  const baseCode = codes[0] ?? '';
  codes.splice(given, 1);
  return { ok: true, baseCode, omocodie: codes };
};

/** The base form of the code inspected last, whose upper-case text is given. */
export const baseCodeOf = (codiceFiscale: string): string => {
  if (parts.mask === 0) return codiceFiscale;
  toBaseForm();
  return textOf(textBytes);
};

export const omocodiaDetail = (mask: number): OmocodiaDetail => details[mask] ?? makeDetail(mask);

/** Where the seven digits are, the rightmost first: index n is bit n of a mask. */
const DIGIT_POSITIONS: readonly number[] = [14, 13, 12, 10, 9, 7, 6];
const FORMS = 128;

const NO_OMOCODIA: OmocodiaDetail = Object.freeze({ level: 0, positions: Object.freeze([]) });

/** By mask, made when first asked for. */
const details: (OmocodiaDetail | undefined)[] = [NO_OMOCODIA];

const makeDetail = (mask: number): OmocodiaDetail => {
  const positions = DIGIT_POSITIONS.filter((_position, bit) => (mask >> bit) & 1).reverse();
  const detail = Object.freeze({ level: positions.length, positions: Object.freeze(positions) });
  details[mask] = detail;
  return detail;
};

/** Makes {@link textBytes} upper case and replaces its substitutes by digits; the check letter follows. */
const toBaseForm = (): void => {
  for (let at = 0; at < CODE_LENGTH; at++) {
    const character = textBytes[at] as number;
    textBytes[at] = character > 96 ? character - 32 : character;
  }
  for (const at of DIGIT_POSITIONS) textBytes[at] = 48 + ((DIGITS[textBytes[at] as number] as number) & 15);
  textBytes[15] = 65 + checkLetterIndex(textBytes, 0);
};

/**
 * The 128 forms of the base code in {@link textBytes}, by mask. Counting in Gray's order would touch one digit a
 * step; here each step changes the digits that binary counting changes, and corrects the sum by their differences.
 */
const allForms = (): string[] => {
  const codes = new Array<string>(FORMS);
  const digits = DIGIT_POSITIONS.map((at) => textBytes[at] as number);
  const letters = digits.map((digit) => SUBSTITUTES.charCodeAt(digit - 48));
  const gains = DIGIT_POSITIONS.map((at, bit) => {
    const values = at % 2 === 0 ? ODD_VALUES : EVEN_VALUES;
    return (values[letters[bit] as number] as number) - (values[digits[bit] as number] as number);
  });
  let sum = checkLetterIndex(textBytes, 0) + MULTIPLE_OF_26;
  codes[0] = textOf(textBytes);
  for (let mask = 1; mask < FORMS; mask++) {
    let bit = 0;
    for (; ((mask >> bit) & 1) === 0; bit++) {
      textBytes[DIGIT_POSITIONS[bit] as number] = digits[bit] as number;
      sum -= gains[bit] as number;
    }
    textBytes[DIGIT_POSITIONS[bit] as number] = letters[bit] as number;
    sum += gains[bit] as number;
    textBytes[15] = 65 + (sum % 26);
    codes[mask] = textOf(textBytes);
  }
  return codes;
};

/** Keeps the running sum positive: seven differences are never below it. */
const MULTIPLE_OF_26 = 260;

/** Sixteen arguments, since a spread of the array takes several times as long. */
export const textOf = (code: Uint8Array): string =>
  String.fromCharCode(
    code[0] as number,
    code[1] as number,
    code[2] as number,
    code[3] as number,
    code[4] as number,
    code[5] as number,
    code[6] as number,
    code[7] as number,
    code[8] as number,
    code[9] as number,
    code[10] as number,
    code[11] as number,
    code[12] as number,
    code[13] as number,
    code[14] as number,
    code[15] as number,
  );
