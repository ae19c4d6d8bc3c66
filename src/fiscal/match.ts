import { type CheckFailure, explainFailure } from './check-failure.ts';
import { CHECK_STATUS, type CheckOptions, readSettings } from './check-status.ts';
import { codeOfSlot } from './code-table.ts';
import { inspectText, parts, textBytes, upperCaseText } from './inspect-code.ts';
import { inspected, inspectPerson, personFaults, personLetters } from './inspect-person.ts';
import { otherReadings } from './name-code.ts';
import type { Person } from './person.ts';
import type { PersonFault } from './person-fault.ts';
import { AMBIGUOUS_PLACE, candidates } from './place-candidates.ts';
import { isStato, isTakenOverBy, recordsOf } from './place-records.ts';
import { areOneState } from './state-parts.ts';
import { byteAt } from './typed-access.ts';

export type MatchPartName = 'surname' | 'givenName' | 'sex' | 'day' | 'month' | 'year' | 'birthplace';

/** A part of the code, compared with the person's data. */
export type MatchPart = {
  readonly part: MatchPartName;
  readonly matches: boolean;
  /** The value from the person's data: three letters of a name, F or M, a number of the date, a Belfiore code. */
  readonly expected: string | number;
  /** The value in the code. */
  readonly found: string | number;
};

export type Match = {
  readonly ok: true;
  /** Whether all parts match. */
  readonly matches: boolean;
  /** In the order of the code. */
  readonly parts: readonly MatchPart[];
};

/** The code is invalid, or the person's data are: the failure has the errors of one or both. */
export type MatchFailure = {
  readonly ok: false;
  readonly code: CheckFailure | null;
  readonly faults: readonly PersonFault[];
};

/**
 * Whether a code can be that of the person, and if not, which part differs. Omocodia does not count. A name matches in any
 * way in which the tax office has written it: with transliterated letters or their base letters, without letters with
 * diacritics (many codes made before 2011), with or without names after a comma. A birthplace matches by any place that its
 * name may mean, by its successors and predecessors, and by the state that it was part of. @throws TypeError only for
 * invalid options.
 */
export const match = (code: string, person: Person, options: CheckOptions): Match | MatchFailure => {
  const settings = readSettings(options);
  const status = inspectText(code, settings);
  const isCodeGood = status <= CHECK_STATUS.validWithWarnings;
  const isPersonGood = inspectPerson(person, settings.today) && isPlaceKnown();
  if (!isCodeGood || !isPersonGood) {
    return {
      ok: false,
      code: isCodeGood ? null : explainFailure(code, status),
      faults: isPersonGood ? [] : personFaults(person, options),
    };
  }
  const text = upperCaseText(code);
  const compared = [
    lettersPart('surname', text, person),
    lettersPart('givenName', text, person),
    sexPart(),
    dayPart(inspected.date % 100, parts.day),
    monthPart(((inspected.date / 100) | 0) % 100, parts.month),
    yearPart(),
    birthplacePart(),
  ];
  return { ok: true, matches: areAllMatching(compared), parts: compared };
};

const areAllMatching = (compared: readonly MatchPart[]): boolean => {
  for (const { matches } of compared) if (!matches) return false;
  return true;
};

/** An ambiguous name is sufficient, because the code shows which place is meant. */
const isPlaceKnown = (): boolean => inspected.slot >= 0 || inspected.slot === AMBIGUOUS_PLACE;

const valuePart = (part: MatchPartName, expected: string | number, found: string | number): MatchPart => ({
  part,
  matches: expected === found,
  expected,
  found,
});

/**
 * Makes parts with a number, one matching part for each number. Nearly all results consist of them. The list has its full
 * length at once, because engines hash the indices of sparse arrays.
 */
const numberPart = (part: 'day' | 'month' | 'year', first: number, count: number) => {
  const known = new Array<MatchPart | undefined>(count).fill(undefined);
  return (expected: number, found: number): MatchPart => {
    const at = found - first;
    if (expected !== found || at < 0 || at >= count) return valuePart(part, expected, found);
    const made = known[at] ?? Object.freeze(valuePart(part, expected, found));
    known[at] = made;
    return made;
  };
};

const dayPart = numberPart('day', 1, 31);
const monthPart = numberPart('month', 1, 12);
const ofYear = numberPart('year', 1800, 400);

const SAME_SEX = {
  F: Object.freeze(valuePart('sex', 'F', 'F')),
  M: Object.freeze(valuePart('sex', 'M', 'M')),
} as const;

const sexPart = (): MatchPart => {
  const [expected, found] = [inspected.isFemale ? 'F' : 'M', parts.isFemale ? 'F' : 'M'] as const;
  return expected === found ? SAME_SEX[found] : valuePart('sex', expected, found);
};

const lettersPart = (part: 'surname' | 'givenName', code: string, person: Person): MatchPart => {
  const at = part === 'surname' ? 0 : 3;
  const found = code.slice(at, at + 3);
  if (isWritten(at)) return { part, matches: true, expected: found, found };
  const matches = otherReadings(person[part] ?? '', part).includes(found);
  return { part, matches, expected: lettersAt(personLetters, at), found };
};

/** Whether the code has the three letters of the person. */
const isWritten = (at: number): boolean =>
  upperCaseAt(textBytes, at) === byteAt(personLetters, at) &&
  upperCaseAt(textBytes, at + 1) === byteAt(personLetters, at + 1) &&
  upperCaseAt(textBytes, at + 2) === byteAt(personLetters, at + 2);

/** Makes an ASCII letter upper case. */
const UPPER_CASE = 0xdf;

const upperCaseAt = (bytes: Uint8Array, at: number): number => byteAt(bytes, at) & UPPER_CASE;

const lettersAt = (bytes: Uint8Array, at: number): string =>
  String.fromCharCode(byteAt(bytes, at), byteAt(bytes, at + 1), byteAt(bytes, at + 2));

/** The code has only two digits of the year. The person's data tell the century. */
const yearPart = (): MatchPart => {
  const expected = (inspected.date / 10_000) | 0;
  const isSame = expected % 100 === parts.twoDigitYear;
  return ofYear(expected, isSame ? expected : (parts.birthDate / 10_000) | 0);
};

const birthplacePart = (): MatchPart => {
  const found = parts.slot;
  const named = inspected.slot >= 0 ? inspected.slot : (candidates()[0]?.slot ?? found);
  const code = codeOfSlot(found);
  if (named === found) return { part: 'birthplace', matches: true, expected: code, found: code };
  const matches = isAlsoMeant(named, found);
  return { part: 'birthplace', matches, expected: codeOfSlot(named), found: code };
};

const isAlsoMeant = (named: number, found: number): boolean =>
  candidates().some(({ slot }) => slot === found) ||
  isTakenOverBy(found, named) ||
  isTakenOverBy(named, found) ||
  recordsOf(found).heirs.get(found)?.includes(named) === true ||
  recordsOf(named).heirs.get(named)?.includes(found) === true ||
  (isStato(named) && isStato(found) && areOneState(named, found, inspected.date));
