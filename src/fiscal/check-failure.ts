import { daysInMonth } from './calendar-date.ts';
import { isAlphanumeric, isDigitOrSubstitute, isLetter, MONTHS, toDigit } from './characters.ts';
import { checkLetterIndex } from './check-character.ts';
import { type CheckReason, type CheckStatus, reasonOfStatus } from './check-status.ts';
import { type CheckDetail, englishCodeMessages } from './code-messages.ts';
import { isKnownCode, slotOfCode } from './code-table.ts';
import { CODE_LENGTH, IS_DIGIT_POSITION } from './inspect-code.ts';
import { checkDigit, numericPartAtFault } from './numeric-code.ts';

/** One error in a code, and its position: `code.slice(start, end)`. */
export type CheckFault = {
  readonly reason: CheckReason;
  readonly detail: CheckDetail;
  /** Index of the first wrong character, from 0; the code's own length if something is missing at its end. */
  readonly start: number;
  /** Index after the last wrong character; equal to `start` if something is missing. */
  readonly end: number;
  /** A message in English without any part of the code. `messages` has it in other languages. */
  readonly message: string;
  /** The right check character, if the error is in the check character. */
  readonly expected?: string;
  /** The code that is meant, if the error is a prefix before it. It is not checked. */
  readonly meant?: string;
};

export type CheckFailure = {
  readonly ok: false;
  /** The reason of the first fault. `start`, `end` and `message` are about the same fault. */
  readonly reason: CheckReason;
  readonly start: number;
  readonly end: number;
  readonly message: string;
  /** All errors of the code, the deciding one first. */
  readonly faults: readonly [CheckFault, ...CheckFault[]];
};

/** Explains the status of an invalid code. */
export const explainFailure = (code: unknown, status: CheckStatus): CheckFailure => {
  const text = typeof code === 'string' ? code : '';
  const reason = reasonOfStatus(status) ?? 'characters';
  const all = findFaults(text, reason);
  const first = all.find((fault) => fault.reason === reason) ?? wholeCodeFault(text, reason);
  const { start, end, message } = first;
  return {
    ok: false,
    reason,
    start,
    end,
    message,
    faults: [first, ...all.filter((fault) => fault !== first)],
  };
};

const findFaults = (text: string, reason: CheckReason): CheckFault[] => {
  const prefix = prefixFault(text, reason);
  if (prefix !== undefined) return [prefix];
  const stray = strayCharacters(text);
  if (text.length !== CODE_LENGTH) return stray.length > 0 ? stray : otherLengthFaults(text, reason);
  const misplaced = [...misplacedCharacters(text)];
  if (misplaced.length > 0) return misplaced;
  return [checkCharacterFault(text), dateFault(text), placeFault(text)].filter(
    (fault) => fault !== undefined,
  );
};

type Stretch = { readonly start: number; readonly end: number };

const fault = (reason: CheckReason, detail: CheckDetail, { start, end }: Stretch): CheckFault => ({
  reason,
  detail,
  start,
  end,
  message: englishCodeMessages[detail]({ start, end }),
});

const characterAt = (at: number): Stretch => ({ start: at, end: at + 1 });

const strayCharacters = (text: string): CheckFault[] => {
  const faults: CheckFault[] = [];
  for (let at = 0; at < text.length && faults.length < CODE_LENGTH; at++) {
    if (isAlphanumeric(text.charCodeAt(at))) continue;
    faults.push(fault('characters', 'stray-character', characterAt(at)));
  }
  return faults;
};

/** Faults of a text that does not have 16 characters. The reasons of eleven digits concern the whole code. */
const otherLengthFaults = (text: string, reason: CheckReason): CheckFault[] => {
  if (reason === 'check-character') {
    const expected = String(checkDigit((at) => text.charCodeAt(at)));
    return [{ ...fault('check-character', 'check-digit', characterAt(10)), expected }];
  }
  if (reason !== 'length') return [];
  const isNumber = /^\d+$/.test(text);
  if (isNumber && text.length === 11) {
    const part = numericPartAtFault((at) => text.charCodeAt(at));
    return [fault('length', part, part === 'running-number' ? { start: 0, end: 7 } : OFFICE)];
  }
  const detail = text.length === 11 ? 'eleven-characters' : isNumber ? 'digit-count' : 'length';
  const start = Math.min(text.length, CODE_LENGTH);
  return [fault('length', detail, { start, end: text.length })];
};

/** The office in a code of eleven digits. */
const OFFICE: Stretch = { start: 7, end: 10 };

/** Returns the fault of a text whose only fault, as far as its form goes, is a prefix before the code. */
const prefixFault = (text: string, reason: CheckReason): CheckFault | undefined => {
  if (reason !== 'length' && reason !== 'characters') return undefined;
  const [, prefix, meant] = PREFIXED.exec(text) ?? [];
  if (prefix === undefined || meant === undefined) return undefined;
  const countryDetail = meant.length === 11 ? 'vat-prefix' : 'country-prefix';
  const detail = prefix.length === 2 ? countryDetail : 'identity-prefix';
  return { ...fault(reason, detail, { start: 0, end: prefix.length }), meant };
};

/** A VAT number has its country before it in the VIES; SPID and CIE name the series that a number is of (eIDAS). */
const PREFIXED = /^(IT|(?:TIN|VAT)IT-)[ -]?([A-Z0-9]{16}|\d{11})$/i;

const misplacedCharacters = function* (text: string): Generator<CheckFault> {
  for (let at = 0; at < CODE_LENGTH; at++) {
    const character = text.charCodeAt(at);
    const wantsDigit = IS_DIGIT_POSITION[at] === 1;
    if (wantsDigit ? isDigitOrSubstitute(character) : isLetter(character)) continue;
    if (!wantsDigit) yield fault('characters', 'letter-expected', characterAt(at));
    else if (!isLetter(character)) yield fault('characters', 'digit-expected', characterAt(at));
    else yield fault('omocodia', 'omocodia-letter', characterAt(at));
  }
};

const checkCharacterFault = (text: string): CheckFault | undefined => {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const expected = checkLetterIndex(bytes, 0);
  if (expected === letterIndex(bytes[15] ?? 0)) return undefined;
  return {
    ...fault('check-character', 'check-character', characterAt(15)),
    expected: String.fromCharCode(65 + expected),
  };
};

/** Makes an ASCII letter upper case and returns its position, A is 0. */
const letterIndex = (character: number): number => (character & 0xdf) - 65;

const digitAt = (text: string, at: number): number => toDigit(text.charCodeAt(at));

const DAY: Stretch = { start: 9, end: 11 };
const PLACE: Stretch = { start: 11, end: 15 };

const dateFault = (text: string): CheckFault | undefined => {
  const month = MONTHS[letterIndex(text.charCodeAt(8))] ?? 0;
  if (month === 0) return fault('date', 'month', characterAt(8));
  const written = digitAt(text, 9) * 10 + digitAt(text, 10);
  const day = written > 40 ? written - 40 : written;
  if (day === 0 || day > 31) return fault('date', 'day', DAY);
  if (day > daysInMonth(2000, month)) return fault('date', 'day-of-month', DAY);
  // A wrong 29 February depends on the year. Its status shows that.
  return undefined;
};

const placeFault = (text: string): CheckFault | undefined => {
  const digits = `${digitAt(text, 12)}${digitAt(text, 13)}${digitAt(text, 14)}`;
  const slot = slotOfCode(text.charAt(11).toUpperCase() + digits);
  return isKnownCode(slot) ? undefined : fault('place', 'place', PLACE);
};

/** Returns the faults that are not in a single character. */
const wholeCodeFault = (text: string, reason: CheckReason): CheckFault => {
  switch (reason) {
    case 'date':
      return fault('date', 'birth-date', { start: 6, end: 11 });
    case 'place-not-in-force':
      return fault(reason, reason, PLACE);
    case 'provisional-code':
    case 'vat-number':
    case 'organisation-code':
      return fault(reason, reason, { start: 0, end: 11 });
    default:
      return fault(reason, 'length', { start: 0, end: text.length });
  }
};
