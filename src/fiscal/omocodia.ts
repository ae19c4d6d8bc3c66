/**
 * Omocodia, DM 23 December 1976 (art. 6): if two people would have the same code, letters replace digits, and the check
 * character is computed again. Each of the seven digits can be replaced or not, which gives 128 forms of a code. A mask
 * identifies a form; its lowest bit is the rightmost digit.
 */
import { toDigit } from './characters.ts';
import { checkLetterIndex, EVEN_VALUES, ODD_VALUES } from './check-character.ts';
import { type CheckFailure, explainFailure } from './check-failure.ts';
import { CHECK_STATUS, type CheckOptions, readSettings } from './check-status.ts';
import { CODE_LENGTH, inspectText, parts, textBytes } from './inspect-code.ts';
import { byteAt, intAt } from './typed-access.ts';

export type OmocodieResult = {
  readonly ok: true;
  /** The form without substitutions. */
  readonly baseCode: string;
  /** The other 127 forms: the base first, then counting in binary, the rightmost digit lowest. */
  readonly omocodie: readonly string[];
};

/** The digits of a code that omocodia replaced. */
export type OmocodiaDetail = {
  /** How many digits are replaced: 0 for a base code, up to 7. */
  readonly level: number;
  /** The indices, from 0, of the replaced digits in the code, from left to right. */
  readonly positions: readonly number[];
};

/**
 * Returns all other forms of a valid code. Any of the 128 forms may be given. @throws TypeError only for invalid options.
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

/** Returns the base form of the last inspected code, whose upper-case text is given. */
export const toBaseCode = (codiceFiscale: string): string => {
  if (parts.mask === 0) return codiceFiscale;
  toBaseForm();
  return toCodeText(textBytes);
};

export const omocodiaDetail = (mask: number): OmocodiaDetail => details[mask] ?? makeDetail(mask);

/** The positions of the seven digits, the rightmost first: index n is bit n of a mask. */
const DIGIT_POSITIONS = Uint8Array.of(14, 13, 12, 10, 9, 7, 6);
const FORMS = 128;

const NO_OMOCODIA: OmocodiaDetail = Object.freeze({ level: 0, positions: Object.freeze([]) });

/** Details indexed by mask, each made at its first use. */
const details: (OmocodiaDetail | undefined)[] = [NO_OMOCODIA];

const makeDetail = (mask: number): OmocodiaDetail => {
  const positions = Array.from(DIGIT_POSITIONS)
    .filter((_position, bit) => (mask >> bit) & 1)
    .reverse();
  const detail = Object.freeze({ level: positions.length, positions: Object.freeze(positions) });
  details[mask] = detail;
  return detail;
};

/** Makes {@link textBytes} upper case and replaces its substitutes by digits; the check letter follows. */
const toBaseForm = (): void => {
  for (let at = 0; at < CODE_LENGTH; at++) {
    const character = byteAt(textBytes, at);
    textBytes[at] = character > 96 ? character - 32 : character;
  }
  for (const at of DIGIT_POSITIONS) textBytes[at] = 48 + toDigit(byteAt(textBytes, at));
  textBytes[15] = 65 + checkLetterIndex(textBytes, 0);
};

/**
 * Returns the 128 forms of the base code in {@link textBytes}, by mask. Gray's order would change one digit a step, but the
 * result is in binary order: each step changes the digits that binary counting changes, and corrects the sum by their
 * differences.
 */
const allForms = (): string[] => {
  const codes = new Array<string>(FORMS);
  let sum = checkLetterIndex(textBytes, 0) + MULTIPLE_OF_26;
  for (let bit = 0; bit < DIGIT_POSITIONS.length; bit++) {
    const at = byteAt(DIGIT_POSITIONS, bit);
    const values = at % 2 === 0 ? ODD_VALUES : EVEN_VALUES;
    digits[bit] = byteAt(textBytes, at);
    letters[bit] = byteAt(SUBSTITUTE_CODES, byteAt(digits, bit) - 48);
    gains[bit] = byteAt(values, byteAt(letters, bit)) - byteAt(values, byteAt(digits, bit));
  }
  codes[0] = toCodeText(textBytes);
  for (let mask = 1; mask < FORMS; mask++) {
    let bit = 0;
    for (; ((mask >> bit) & 1) === 0; bit++) {
      textBytes[byteAt(DIGIT_POSITIONS, bit)] = byteAt(digits, bit);
      sum -= intAt(gains, bit);
    }
    textBytes[byteAt(DIGIT_POSITIONS, bit)] = byteAt(letters, bit);
    sum += intAt(gains, bit);
    textBytes[15] = 65 + (sum % 26);
    codes[mask] = toCodeText(textBytes);
  }
  return codes;
};

/** The current code's digits, their substitutes, and what each of these adds to the sum, indexed by bit of the mask. */
const digits = new Uint8Array(DIGIT_POSITIONS.length);
const letters = new Uint8Array(DIGIT_POSITIONS.length);
const gains = new Int32Array(DIGIT_POSITIONS.length);

/** The code points of SUBSTITUTES. */
const SUBSTITUTE_CODES = Uint8Array.of(76, 77, 78, 80, 81, 82, 83, 84, 85, 86);

/** Keeps the running sum positive: seven differences are never below it. */
const MULTIPLE_OF_26 = 260;

/** Passes sixteen arguments, because spreading the array takes several times as long. */
export const toCodeText = (code: Uint8Array): string =>
  String.fromCharCode(
    byteAt(code, 0),
    byteAt(code, 1),
    byteAt(code, 2),
    byteAt(code, 3),
    byteAt(code, 4),
    byteAt(code, 5),
    byteAt(code, 6),
    byteAt(code, 7),
    byteAt(code, 8),
    byteAt(code, 9),
    byteAt(code, 10),
    byteAt(code, 11),
    byteAt(code, 12),
    byteAt(code, 13),
    byteAt(code, 14),
    byteAt(code, 15),
  );
