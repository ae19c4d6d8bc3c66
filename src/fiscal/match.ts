import { toIsoDate } from './calendar-date.ts';
import { type CheckFailure, explainFailure } from './check-failure.ts';
import { CHECK_STATUS, type CheckOptions, readSettings } from './check-status.ts';
import { codeOfSlot, isInForce, slotOfCode } from './code-table.ts';
import { AMBIGUOUS_PLACE, candidates } from './geography/place-candidates.ts';
import { isStato, isTakenOverBy, readRecords } from './geography/place-records.ts';
import { inspectText, parts, textBytes, upperCaseText } from './inspect-code.ts';
import { otherReadings } from './name-code.ts';
import { inspected, inspectPerson, type Person, personFaults, personLetters } from './person.ts';
import type { PersonFault, PersonField } from './person-fault.ts';
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

/** The extent of the comparison: everything; at least both names and the birth date; at least both names; or less. */
export type MatchExtent = 'all' | 'names-and-date' | 'names' | 'some';

export type Match = {
  readonly ok: true;
  /** Whether all compared parts match. */
  readonly matches: boolean;
  /** The compared parts, in the order of the code. */
  readonly parts: readonly MatchPart[];
  /** The parts without data to compare with, in the order of the code. */
  readonly skipped: readonly MatchPartName[];
  /** How much a match proves: many people share the letters of two names, and few also a birth date. */
  readonly compared: MatchExtent;
};

/** The code is invalid, or the person's data are: the failure has the errors of one or both. */
export type MatchFailure = {
  readonly ok: false;
  readonly code: CheckFailure | null;
  readonly faults: readonly PersonFault[];
};

/** The data of a person that are known. What is absent (not what is empty) is not compared. */
export type KnownPerson = { readonly [Field in keyof Person]?: Person[Field] | undefined };

/**
 * Returns whether a code can belong to the person, and if not, which part differs. Omocodia does not count. Only the given data
 * are compared; the result says which parts were skipped. Without any data, all fields are faults. A name matches in any
 * way in which the tax office has written it: with transliterated letters or their base letters, without letters with
 * diacritics (many codes made before 2011), with or without names after a comma. A birthplace matches by any place that its
 * name may mean, by its successors and predecessors, and by the state that it was part of. @throws TypeError only for
 * invalid options.
 */
export const match = (code: string, person: KnownPerson, options: CheckOptions): Match | MatchFailure => {
  const settings = readSettings(options);
  const status = inspectText(code, settings);
  const isCodeGood = status <= CHECK_STATUS.validWithWarnings;
  readGiven(person);
  if (!inspectGiven(person, settings.today) || !isCodeGood) {
    return {
      ok: false,
      code: isCodeGood ? null : explainFailure(code, status),
      faults: personFaults(person, {}).filter(({ field }) => given.isNothing || isGiven(field)),
    };
  }
  const text = upperCaseText(code);
  const compared: MatchPart[] = [];
  if (given.surname) compared.push(lettersPart('surname', text, person));
  if (given.givenName) compared.push(lettersPart('givenName', text, person));
  if (given.sex) compared.push(sexPart());
  if (given.birthDate) {
    compared.push(numberPart('day', inspected.date % 100, parts.day));
    compared.push(numberPart('month', ((inspected.date / 100) | 0) % 100, parts.month));
    compared.push(yearPart());
  }
  if (given.birthplace) compared.push(birthplacePart());
  return {
    ok: true,
    matches: areAllMatching(compared),
    parts: compared,
    skipped: compared.length === PART_NAMES.length ? NOTHING_SKIPPED : skippedParts(compared),
    compared: comparedExtent(compared.length),
  };
};

/** The fields of the last person that are given. The object is reused, because a match of a million rows is fast. */
const given = {
  surname: false,
  givenName: false,
  sex: false,
  birthDate: false,
  birthplace: false,
  isNothing: true,
};

const readGiven = (person: KnownPerson | null | undefined): void => {
  const { surname, givenName, noSurname, noName, sex, birthDate, birthplace, province } = person ?? NOBODY;
  given.surname = isPresent(surname) || noSurname === true;
  given.givenName = isPresent(givenName) || noName === true;
  given.sex = isPresent(sex);
  given.birthDate = isPresent(birthDate);
  // A province alone means no place, which is an error.
  given.birthplace = isPresent(birthplace) || (isPresent(province) && province !== '');
  given.isNothing = !(given.surname || given.givenName || given.sex || given.birthDate || given.birthplace);
};

const NOBODY: KnownPerson = {};

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

const isGiven = (field: PersonField): boolean => given[field === 'province' ? 'birthplace' : field];

/** Returns whether all given data are good, and there are some. Without a birth date, a place is looked up at the code's date. */
const inspectGiven = (person: KnownPerson, today: number): boolean => {
  if (inspectPerson(person, today).isGood && isPlaceKnown()) return true;
  if (given.isNothing) return false;
  if (given.birthplace && !given.birthDate)
    inspectPerson({ ...person, birthDate: toIsoDate(parts.birthDate) }, today);
  return (
    (!given.surname || inspected.surnameFault === undefined) &&
    (!given.givenName || inspected.givenNameFault === undefined) &&
    (!given.sex || inspected.isSexKnown) &&
    (!given.birthDate || inspected.isDateGood) &&
    (!given.birthplace || isPlaceKnown())
  );
};

const PART_NAMES: readonly MatchPartName[] = [
  'surname',
  'givenName',
  'sex',
  'day',
  'month',
  'year',
  'birthplace',
];

const NOTHING_SKIPPED: readonly MatchPartName[] = Object.freeze([]);

const skippedParts = (compared: readonly MatchPart[]): readonly MatchPartName[] =>
  PART_NAMES.filter((name) => compared.every(({ part }) => part !== name));

const comparedExtent = (count: number): MatchExtent => {
  if (count === PART_NAMES.length) return 'all';
  if (!given.surname || !given.givenName) return 'some';
  return given.birthDate ? 'names-and-date' : 'names';
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
 * Matching parts with a number, from the first number on. Nearly all results consist of them, so one is made for each number.
 * The lists have their full lengths at once, because engines hash the indices of sparse arrays.
 */
const NUMBER_PARTS = {
  day: { first: 1, known: new Array<MatchPart | undefined>(31).fill(undefined) },
  month: { first: 1, known: new Array<MatchPart | undefined>(12).fill(undefined) },
  year: { first: 1800, known: new Array<MatchPart | undefined>(400).fill(undefined) },
};

const numberPart = (part: keyof typeof NUMBER_PARTS, expected: number, found: number): MatchPart => {
  const { first, known } = NUMBER_PARTS[part];
  const at = found - first;
  if (expected !== found || at < 0 || at >= known.length) return valuePart(part, expected, found);
  const made = known[at] ?? Object.freeze(valuePart(part, expected, found));
  known[at] = made;
  return made;
};

const SAME_SEX = {
  F: Object.freeze({ part: 'sex', matches: true, expected: 'F', found: 'F' }),
  M: Object.freeze({ part: 'sex', matches: true, expected: 'M', found: 'M' }),
} as const;

const sexPart = (): MatchPart => {
  const [expected, found] = [inspected.isFemale ? 'F' : 'M', parts.isFemale ? 'F' : 'M'] as const;
  return expected === found ? SAME_SEX[found] : valuePart('sex', expected, found);
};

const lettersPart = (part: 'surname' | 'givenName', code: string, person: KnownPerson): MatchPart => {
  const at = part === 'surname' ? 0 : 3;
  const found = code.slice(at, at + 3);
  if (isWritten(at)) return { part, matches: true, expected: found, found };
  const matches = otherReadings(person[part] ?? '', part).includes(found);
  return { part, matches, expected: lettersAt(personLetters, at), found };
};

/** Returns whether the code has the three letters of the person. */
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
  return numberPart('year', expected, isSame ? expected : (parts.birthDate / 10_000) | 0);
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
  readRecords(found).heirs.get(found)?.includes(named) === true ||
  readRecords(named).heirs.get(named)?.includes(found) === true ||
  (isStato(named) && isStato(found) && areOneState(named, found, inspected.date));

/**
 * Returns whether one state was part of the other on the date, or is another code of it. A birth in Zagabria in 1970 is
 * registered in Jugoslavia or in Croazia, and codes have either.
 */
const areOneState = (first: number, second: number, date: number): boolean =>
  hasPart(first, second, date) || hasPart(second, first, date);

const hasPart = (whole: number, part: number, date: number): boolean =>
  isInForce(whole, date) && (PARTS[codeOfSlot(whole)] ?? []).some((code) => slotOfCode(code) === part);

/** The parts of a state, by the code of the whole. Soviet republics with two codes have both. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  Z105: ['Z155', 'Z156'],
  Z118: ['Z148', 'Z149', 'Z150', 'Z153', 'Z157', 'Z158', 'Z159', 'Z160'],
  Z135: [
    ...['Z136', 'Z137', 'Z138', 'Z139', 'Z140', 'Z141', 'Z142', 'Z143', 'Z144', 'Z145', 'Z146', 'Z147'],
    ...['Z151', 'Z152', 'Z154', 'Z252', 'Z253', 'Z254', 'Z255', 'Z256', 'Z257', 'Z258', 'Z259'],
  ],
  Z157: ['Z158', 'Z159', 'Z160'],
  Z158: ['Z160'],
  Z210: ['Z221', 'Z231'],
  Z223: ['Z242'],
  Z236: ['Z249'],
  Z252: ['Z137'],
  Z253: ['Z141'],
  Z254: ['Z136'],
  Z255: ['Z152'],
  Z256: ['Z142'],
  Z257: ['Z147'],
  Z258: ['Z151'],
  Z259: ['Z143'],
  Z315: ['Z368'],
  Z348: ['Z907'],
};
