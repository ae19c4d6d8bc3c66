/**
 * Codici fiscali of eleven digits: seven digits of a running number, three of the office, and a check digit (DM 23 December
 * 1976, art. 8 to 10). The meaning of the office numbers comes from the formal check that Agenzia delle Entrate publishes
 * for its numeric codes. The limits of the running numbers of office 000, which issued codes centrally in the seventies,
 * are not checked.
 */
import { CHECK_STATUS, type CheckStatus } from './check-status.ts';

/** Running numbers of organisations without VAT number begin here. */
const FIRST_ORGANISATION = 8_000_000;

/**
 * Returns the kind of an eleven-character code: provisional code, VAT number or organisation; `checkCharacter` if its last
 * digit is wrong, `length` if it has letters (then it is an incomplete code) or its office has never existed.
 */
export const numericStatus = (characterAt: (at: number) => number): CheckStatus => {
  for (let at = 0; at < 11; at++) {
    if (characterAt(at) < 48 || characterAt(at) > 57) return CHECK_STATUS.length;
  }
  const status = officeStatus(numberAt(characterAt, 0, 7), numberAt(characterAt, 7, 10));
  if (status === CHECK_STATUS.length) return status;
  return checkDigit(characterAt) === characterAt(10) - 48 ? status : CHECK_STATUS.checkCharacter;
};

/** Returns the part of eleven digits for which {@link numericStatus} returns `length`. */
export const numericPartAtFault = (
  characterAt: (at: number) => number,
): 'running-number' | 'office' | 'organisation-office' => {
  const running = numberAt(characterAt, 0, 7);
  if (running === 0) return 'running-number';
  const isOfficeKnown = officeStatus(1, numberAt(characterAt, 7, 10)) !== CHECK_STATUS.length;
  return isOfficeKnown ? 'organisation-office' : 'office';
};

/** Returns the digit that follows the first ten by Luhn's formula. */
export const checkDigit = (characterAt: (at: number) => number): number => {
  let sum = 0;
  for (let at = 0; at < 10; at++) {
    const digit = characterAt(at) - 48;
    const doubled = at % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return (10 - (sum % 10)) % 10;
};

const numberAt = (characterAt: (at: number) => number, start: number, end: number): number => {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + characterAt(at) - 48;
  return value;
};

const officeStatus = (running: number, office: number): CheckStatus => {
  if (running === 0) return CHECK_STATUS.length;
  // Central assignment; Intendenze di Finanza; Imposte Dirette.
  if (
    office === 0 ||
    isWithin(office, 151, 245) ||
    isWithin(office, 301, 766) ||
    isWithin(office, 900, 950)
  ) {
    return CHECK_STATUS.provisionalCode;
  }
  if (!isWithin(office, 1, 100) && office !== 120 && office !== 121 && office !== 888 && office !== 999) {
    return CHECK_STATUS.length;
  }
  if (running < FIRST_ORGANISATION) return CHECK_STATUS.vatNumber;
  return office <= 95 ? CHECK_STATUS.organisationCode : CHECK_STATUS.length;
};

const isWithin = (value: number, first: number, last: number): boolean => value >= first && value <= last;
