import { type DateInput, toDateNumber } from './calendar-date.ts';
import { MONTH_LETTERS } from './characters.ts';
import { checkLetterIndex } from './check-character.ts';
import { isInForce, PLACE_LETTERS } from './code-table.ts';
import { notFound, notFoundReason, type PlaceNotFound } from './find-place.ts';
import { isLastSuccessor, lookUpPlace } from './look-up-place.ts';
import { type NameFault, writeGivenName, writeSurname } from './name-code.ts';
import { textOf } from './omocodia.ts';
import { type Birthplace, birthplaceAt, type Place } from './place.ts';

/** A person as the tax office registers one: of married women the surname of birth. */
export type Person = {
  readonly surname: string;
  /** All given names. */
  readonly givenName: string;
  readonly sex: 'F' | 'M';
  readonly birthDate: DateInput;
  /** The comune, or the state for births abroad, by name, or by its Belfiore code. */
  readonly birthplace: string;
  /** Province abbreviation, of that time or of today; `EE` abroad. Needed only where the name is ambiguous. */
  readonly province?: string | undefined;
};

export type GenerateOptions = {
  /** Today: a birth after it is refused. */
  readonly asOf: DateInput;
  /** Refuse a place that was not in force on the birth date, instead of warning. */
  readonly strict?: boolean | undefined;
  /** False leaves suggestions for an unknown birthplace out: they cost as much as a thousand codes. */
  readonly suggest?: boolean | undefined;
};

/**
 * What is odd about a person's data. `place-not-in-force`: the place did not exist, or not yet, on the birth date;
 * `place-ended`: the place that was named had ended before, and the code has the one that took it over.
 */
export type PersonWarning = 'place-not-in-force' | 'place-ended';

export type GeneratedCode = {
  readonly ok: true;
  readonly codiceFiscale: string;
  readonly birthplace: Birthplace;
  readonly warnings: readonly PersonWarning[];
};

/** One thing that is wrong with a person's data. */
export type PersonFault = {
  readonly field: keyof Person;
  readonly reason: PersonFaultReason;
  /** For people; holds nothing of the person. */
  readonly message: string;
  /** For an ambiguous birthplace: the places that fit. */
  readonly candidates?: readonly Place[];
  /** For an unknown birthplace: places that may be meant. */
  readonly suggestions?: readonly Place[];
};

export type PersonFaultReason =
  /** The field is absent, of the wrong type or empty. */
  | 'missing'
  /** A name without any letter. */
  | 'no-letters'
  /** A name with a character that no name has: a digit, a symbol, another script. */
  | 'characters'
  /** A sex that is neither F nor M; a date that is on no calendar; a name that is no place; a province that is none. */
  | 'unknown'
  | 'future'
  /** Born before 1850: nobody lived from then to 1973, when codes began. */
  | 'too-early'
  | 'ambiguous'
  /** `strict` only. */
  | 'not-in-force';

export type GenerateResult = GeneratedCode | { readonly ok: false; readonly faults: readonly PersonFault[] };

/**
 * The codice fiscale of a person, DM 12 March 1974 and 23 December 1976. All faults are told at once.
 * The tax office alone gives out codes: with omocodia the true one may be another of the 128 forms.
 *
 * @throws TypeError only for options that make no sense.
 */
export const generate = (person: Person, options: GenerateOptions): GenerateResult => {
  const today = toDateNumber(options?.asOf);
  if (today === 0) throw new TypeError('asOf must be a date: YYYY-MM-DD or {year, month, day}');
  const { surname, givenName, sex, birthDate, birthplace, province } = person ?? NOBODY;
  const surnameFault = isFilled(surname) ? writeSurname(surname, code, 0) : 'missing';
  const givenNameFault = isFilled(givenName) ? writeGivenName(givenName, code, 3) : 'missing';
  const isSexKnown = sex === 'F' || sex === 'M';
  const date = toDateNumber(birthDate);
  const isDateGood = date >= EARLIEST_BIRTH && date <= today;
  const slot = lookUpPlace(birthplace, province ?? '', isDateGood ? date : today);
  const isSuccessor = slot >= 0 && isLastSuccessor();
  const wasInForce = slot >= 0 && isInForce(slot, date) && !isSuccessor;
  if (
    surnameFault !== undefined ||
    givenNameFault !== undefined ||
    !isSexKnown ||
    !isDateGood ||
    slot < 0 ||
    (options.strict === true && !wasInForce)
  ) {
    const query = {
      name: birthplace,
      province: province ?? '',
      date: isDateGood ? date : today,
    };
    const faults: PersonFault[] =
      slot >= 0 ? [] : [placeFault(options.suggest === false ? notFoundReason(slot) : notFound(slot, query))];
    if (surnameFault !== undefined) faults.unshift(nameFault('surname', surnameFault));
    if (givenNameFault !== undefined) faults.push(nameFault('givenName', givenNameFault));
    if (!isSexKnown) faults.push(sexFault(sex));
    if (!isDateGood) faults.push(dateFault(birthDate, date, today));
    if (options.strict === true && slot >= 0 && isDateGood && !wasInForce) faults.push(NOT_IN_FORCE);
    return { ok: false, faults: faults.sort((a, b) => FIELDS.indexOf(a.field) - FIELDS.indexOf(b.field)) };
  }
  writeBirth(date, sex === 'F', slot);
  return {
    ok: true,
    codiceFiscale: textOf(code),
    birthplace: birthplaceAt(slot, date),
    warnings: wasInForce ? NO_WARNINGS : isSuccessor ? ENDED_WARNING : NOT_IN_FORCE_WARNING,
  };
};

const EARLIEST_BIRTH = 18_500_101;
const FIELDS: readonly (keyof Person)[] = [
  'surname',
  'givenName',
  'sex',
  'birthDate',
  'birthplace',
  'province',
];
const NO_WARNINGS: readonly PersonWarning[] = Object.freeze([]);
const NOT_IN_FORCE_WARNING: readonly PersonWarning[] = Object.freeze(['place-not-in-force'] as const);
const ENDED_WARNING: readonly PersonWarning[] = Object.freeze(['place-ended'] as const);
const NOBODY = {} as Partial<Person> as Person;

const NOT_IN_FORCE: PersonFault = Object.freeze({
  field: 'birthplace',
  reason: 'not-in-force',
  message: 'the birthplace was not in force on the birth date',
});

/** The code being written. */
const code = new Uint8Array(16);

const writeBirth = (date: number, isFemale: boolean, slot: number): void => {
  const year = ((date / 10_000) | 0) % 100;
  const day = (date % 100) + (isFemale ? 40 : 0);
  code[6] = 48 + ((year / 10) | 0);
  code[7] = 48 + (year % 10);
  code[8] = MONTH_LETTERS.charCodeAt((((date / 100) | 0) % 100) - 1);
  code[9] = 48 + ((day / 10) | 0);
  code[10] = 48 + (day % 10);
  code[11] = PLACE_LETTERS.charCodeAt((slot / 1000) | 0);
  code[12] = 48 + (((slot % 1000) / 100) | 0);
  code[13] = 48 + (((slot % 100) / 10) | 0);
  code[14] = 48 + (slot % 10);
  code[15] = 65 + checkLetterIndex(code, 0);
};

const isFilled = (text: unknown): text is string => typeof text === 'string' && text !== '';

const nameFault = (field: 'surname' | 'givenName', fault: NameFault | 'missing'): PersonFault => {
  const label = field === 'surname' ? 'surname' : 'given name';
  if (fault === 'missing') return { field, reason: 'missing', message: `the ${label} is missing` };
  return fault === 'letters'
    ? { field, reason: 'no-letters', message: `the ${label} has no letter` }
    : { field, reason: 'characters', message: `the ${label} has a character that no name is written with` };
};

const sexFault = (sex: unknown): PersonFault =>
  sex === undefined || sex === null || sex === ''
    ? { field: 'sex', reason: 'missing', message: 'the sex is missing' }
    : { field: 'sex', reason: 'unknown', message: 'the sex must be F or M' };

const dateFault = (input: unknown, date: number, today: number): PersonFault => {
  const field = 'birthDate';
  if (input === undefined || input === null || input === '') {
    return { field, reason: 'missing', message: 'the birth date is missing' };
  }
  if (date === 0) return { field, reason: 'unknown', message: 'the birth date is on no calendar' };
  return date > today
    ? { field, reason: 'future', message: 'the birth date is in the future' }
    : { field, reason: 'too-early', message: 'the birth date is before 1850; years have four digits' };
};

const placeFault = ({ reason, candidates, suggestions }: PlaceNotFound): PersonFault => {
  const field = 'birthplace';
  switch (reason) {
    case 'province':
      return { field: 'province', reason: 'unknown', message: 'no province ever had this abbreviation' };
    case 'missing':
      return { field, reason: 'missing', message: 'the birthplace is missing' };
    case 'ambiguous':
      return { field, reason: 'ambiguous', message: 'several places have this name', candidates };
    default:
      return { field, reason: 'unknown', message: 'no place is known by this name', suggestions };
  }
};
