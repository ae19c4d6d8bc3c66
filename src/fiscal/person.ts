/** A person's data, and what can be wrong or odd about them. */
import type { DateInput } from './calendar-date.ts';
import type { PlaceNotFound } from './find-place.ts';
import type { NameFault } from './name-code.ts';
import type { Place } from './place.ts';

/** A person as the tax office registers one: of married women the surname of birth. */
export type Person = {
  readonly surname: string;
  /** All given names. Those after a comma are not certified (DPR 396/2000, art. 35) and do not count. */
  readonly givenName: string;
  /** The person has no surname: the tax office writes XXX for it. The surname is then empty. */
  readonly noSurname?: boolean | undefined;
  /** The person has no given name: the tax office writes XXX for it. The given name is then empty. */
  readonly noName?: boolean | undefined;
  readonly sex: 'F' | 'M';
  readonly birthDate: DateInput;
  /** The comune, or the state for births abroad, by name, or by its Belfiore code. */
  readonly birthplace: string;
  /** Province abbreviation, of that time or of today; `EE` abroad. Needed only where the name is ambiguous. */
  readonly province?: string | undefined;
};

/**
 * What is odd about a person's data. `place-not-in-force`: the place did not exist, or not yet, on the birth date;
 * `place-ended`: the place that was named had ended before, and the code has the one that took it over;
 * `names-after-comma`: given names after a comma were left out.
 */
export type PersonWarning = 'place-not-in-force' | 'place-ended' | 'names-after-comma';

/** The fields that can be wrong. */
export type PersonField = 'surname' | 'givenName' | 'sex' | 'birthDate' | 'birthplace' | 'province';

/** One thing that is wrong with a person's data. */
export type PersonFault = {
  readonly field: PersonField;
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
  /** A name that is given although the person is said to have none. */
  | 'contradiction'
  /** A sex that is neither F nor M; a date that is on no calendar; a name that is no place; a province that is none. */
  | 'unknown'
  | 'future'
  /** Born before 1850: nobody lived from then to 1973, when codes began. */
  | 'too-early'
  | 'ambiguous'
  /** `strict` only. */
  | 'not-in-force';

export const NOT_IN_FORCE: PersonFault = Object.freeze({
  field: 'birthplace',
  reason: 'not-in-force',
  message: 'the birthplace was not in force on the birth date',
});

type NameField = 'surname' | 'givenName';

export const nameFault = (field: NameField, fault: NameFault | 'missing' | 'contradiction'): PersonFault => {
  const label = field === 'surname' ? 'surname' : 'given name';
  switch (fault) {
    case 'missing':
      return { field, reason: 'missing', message: `the ${label} is missing` };
    case 'contradiction':
      return {
        field,
        reason: 'contradiction',
        message: `the ${label} is given, although the person is said to have none`,
      };
    case 'letters':
      return { field, reason: 'no-letters', message: `the ${label} has no letter` };
    case 'characters':
      return {
        field,
        reason: 'characters',
        message: `the ${label} has a character that no name is written with`,
      };
  }
};

export const sexFault = (sex: unknown): PersonFault =>
  sex === undefined || sex === null || sex === ''
    ? { field: 'sex', reason: 'missing', message: 'the sex is missing' }
    : { field: 'sex', reason: 'unknown', message: 'the sex must be F or M' };

/** What is wrong with a date of birth, which is given as it was put and as a date number. */
export const dateFault = (input: unknown, date: number, today: number): PersonFault => {
  const field = 'birthDate';
  if (input === undefined || input === null || input === '') {
    return { field, reason: 'missing', message: 'the birth date is missing' };
  }
  if (date === 0) return { field, reason: 'unknown', message: 'the birth date is on no calendar' };
  return date > today
    ? { field, reason: 'future', message: 'the birth date is in the future' }
    : { field, reason: 'too-early', message: 'the birth date is before 1850; years have four digits' };
};

export const placeFault = ({ reason, hint, candidates, suggestions }: PlaceNotFound): PersonFault => {
  const field = 'birthplace';
  switch (reason) {
    case 'province':
      return { field: 'province', reason: 'unknown', message: 'no province ever had this abbreviation' };
    case 'missing':
      return { field, reason: 'missing', message: 'the birthplace is missing' };
    case 'ambiguous':
      return { field, reason: 'ambiguous', message: 'several places have this name', candidates };
    case 'unknown':
      return { field, reason: 'unknown', message: unknownPlace(hint, suggestions), suggestions };
  }
};

const unknownPlace = (hint: PlaceNotFound['hint'], suggestions: readonly Place[]): string => {
  const [place] = suggestions;
  if (place === undefined) return 'no place is known by this name';
  switch (hint) {
    case 'other-province':
      return `no place of this name was ever in that province; there is one in ${place.province}`;
    case 'foreign-city':
      return `this is a city abroad; give its state: ${place.name}`;
    default:
      return 'no place is known by this name';
  }
};
