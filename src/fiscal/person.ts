/** A person's data, and its possible errors. */
import { type DateInput, toDateNumber } from './calendar-date.ts';
import { isInForce } from './code-table.ts';
import { notFound, notFoundBriefly, type PlaceNotFound } from './geography/find-place.ts';
import { lastLookUp, lookUpPlace } from './geography/look-up-place.ts';
import { certifiedPart, type NameFault, writeGivenName, writeNoName, writeSurname } from './name-code.ts';
import type { PersonFault, PersonFaultFacts } from './person-fault.ts';
import { englishPersonMessage } from './person-messages.ts';

/** A person as the tax office registers one. The surname of a married woman is the one at birth. */
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
  /** The comune, or the state for a birth abroad, by its name or its Belfiore code. */
  readonly birthplace: string;
  /** Province abbreviation, of that time or of today; `EE` abroad. Only necessary if the name is ambiguous. */
  readonly province?: string | undefined;
};

/**
 * A warning about a person's data. `place-not-in-force`: the place did not exist on the birth date; `place-ended`: the
 * place that was named had ended, and the code has its successor; `names-after-comma`: given names after a comma were left
 * out.
 */
export type PersonWarning = 'place-not-in-force' | 'place-ended' | 'names-after-comma';

type NameField = 'surname' | 'givenName';

const nameFault = (field: NameField, reason: NameFault | 'missing' | 'contradiction'): PersonFault =>
  fault({ field, reason: reason === 'letters' ? 'no-letters' : reason });

const sexFault = (sex: unknown): PersonFault =>
  fault({ field: 'sex', reason: sex === undefined || sex === null || sex === '' ? 'missing' : 'unknown' });

/** Creates the error of a birth date, from the input and its date number. */
const dateFault = (input: unknown, date: number, today: number): PersonFault => {
  const field = 'birthDate';
  if (input === undefined || input === null || input === '') return fault({ field, reason: 'missing' });
  if (date === 0) return fault({ field, reason: 'unknown' });
  return fault({ field, reason: date > today ? 'future' : 'too-early' });
};

const placeFault = ({ reason, hint, candidates, suggestions }: PlaceNotFound): PersonFault => {
  const field = 'birthplace';
  switch (reason) {
    case 'province':
      return fault({ field: 'province', reason: 'unknown' });
    case 'missing':
      return fault({ field, reason: 'missing' });
    case 'ambiguous':
      return fault({ field, reason: 'ambiguous', candidates });
    case 'unknown':
      return fault({ field, reason: 'unknown', hint, suggestions });
  }
};

function fault(facts: PersonFaultFacts): PersonFault {
  return { ...facts, message: englishPersonMessage(facts) };
}

type NameProblem = NameFault | 'missing' | 'contradiction' | undefined;

/** The letters of surname and given name, three each, with room for the rest of the code. */
export const personLetters = new Uint8Array(16);

/**
 * A person's data as {@link inspectPerson} has read them. There is one such object, which the next inspection overwrites, so
 * that a code costs no object besides its result.
 */
export const inspected = {
  letters: personLetters,
  /** Whether names, sex and date are good. The birthplace is judged by its slot. */
  isGood: false,
  surnameFault: undefined as NameProblem,
  givenNameFault: undefined as NameProblem,
  isSexKnown: false,
  isFemale: false,
  /** The birth date as a date number. It is good if it exists and is between 1850 and today. */
  date: 0,
  isDateGood: false,
  today: 0,
  /** The slot of the birthplace, or one of the negative results of `lookUpPlace`. */
  slot: -1,
  /** Whether the birthplace was in force on the birth date, and whether it is the successor of the place that was named. */
  wasInForce: false,
  isSuccessor: false,
  hasNamesAfterComma: false,
};

export type InspectedPerson = Readonly<typeof inspected>;

/** Data that may lack fields, each of which is a fault then. */
type Data = { readonly [Field in keyof Person]?: Person[Field] | undefined };

/** Reads a person's data for generate and match. */
export const inspectPerson = (data: Data | null | undefined, today: number): InspectedPerson => {
  const { surname, givenName, noSurname, noName, sex, birthDate, birthplace, province } = data ?? NO_DATA;
  inspected.today = today;
  inspected.surnameFault = readSurname(surname, noSurname === true ? 'none' : 'some');
  // Nobody has neither a surname nor a given name.
  inspected.givenNameFault = readGivenName(
    givenName,
    noName === true && noSurname !== true ? 'none' : 'some',
  );
  inspected.isSexKnown = sex === 'F' || sex === 'M';
  inspected.isFemale = sex === 'F';
  const date = toDateNumber(birthDate);
  inspected.date = date;
  inspected.isDateGood = date >= EARLIEST_BIRTH && date <= today;
  const slot = lookUpPlace(birthplace ?? '', province ?? '', inspected.isDateGood ? date : today);
  inspected.slot = slot;
  inspected.isSuccessor = slot >= 0 && lastLookUp.ended >= 0;
  inspected.wasInForce = slot >= 0 && !inspected.isSuccessor && isInForce(slot, date);
  inspected.isGood =
    inspected.surnameFault === undefined &&
    inspected.givenNameFault === undefined &&
    inspected.isSexKnown &&
    inspected.isDateGood;
  return inspected;
};

type FaultOptions = { readonly strict?: boolean | undefined; readonly suggest?: boolean | undefined };

/** Returns all errors of the last inspected person, in the order of the fields. */
export const personFaults = (data: Data | null | undefined, options: FaultOptions): PersonFault[] => {
  const { birthplace: name = '', province = '', birthDate, sex } = data ?? NO_DATA;
  const { surnameFault, givenNameFault, isSexKnown, isDateGood, date, today, slot } = inspected;
  const faults: PersonFault[] = [];
  if (surnameFault !== undefined) faults.push(nameFault('surname', surnameFault));
  if (givenNameFault !== undefined) faults.push(nameFault('givenName', givenNameFault));
  if (!isSexKnown) faults.push(sexFault(sex));
  if (!isDateGood) faults.push(dateFault(birthDate, date, today));
  if (slot < 0) {
    const query = { name, province, date: isDateGood ? date : today };
    faults.push(placeFault(options.suggest === false ? notFoundBriefly(slot, query) : notFound(slot, query)));
  } else if (options.strict === true && isDateGood && !inspected.wasInForce)
    faults.push(fault({ field: 'birthplace', reason: 'not-in-force' }));
  return faults;
};

/** Returns the warnings about a person. The same combination returns the same array. */
export const personWarnings = ({
  wasInForce,
  isSuccessor,
  hasNamesAfterComma,
}: InspectedPerson): readonly PersonWarning[] => {
  const { inForce, notInForce, ended } = hasNamesAfterComma ? WITH_NAMES_AFTER_COMMA : ABOUT_PLACE;
  if (wasInForce) return inForce;
  return isSuccessor ? ended : notInForce;
};

const ABOUT_PLACE = {
  inForce: Object.freeze([]),
  notInForce: Object.freeze(['place-not-in-force'] as const),
  ended: Object.freeze(['place-ended'] as const),
};

const WITH_NAMES_AFTER_COMMA = {
  inForce: Object.freeze(['names-after-comma'] as const),
  notInForce: Object.freeze(['place-not-in-force', 'names-after-comma'] as const),
  ended: Object.freeze(['place-ended', 'names-after-comma'] as const),
};

const EARLIEST_BIRTH = 18_500_101;

const NO_DATA: Data = {};

/** Whether the data say that the person has such a name. */
type Claim = 'some' | 'none';

const readSurname = (surname: unknown, claim: Claim): NameProblem => {
  const isFilled = typeof surname === 'string' && surname !== '';
  if (claim === 'none') return isFilled ? 'contradiction' : writeNoName(personLetters, 0);
  return isFilled ? writeSurname(surname, personLetters, 0) : 'missing';
};

const readGivenName = (givenName: unknown, claim: Claim): NameProblem => {
  inspected.hasNamesAfterComma = false;
  const isFilled = typeof givenName === 'string' && givenName !== '';
  if (claim === 'none') return isFilled ? 'contradiction' : writeNoName(personLetters, 3);
  if (!isFilled) return 'missing';
  const certified = certifiedPart(givenName);
  if (certified === givenName) return writeGivenName(givenName, personLetters, 3);
  inspected.hasNamesAfterComma = true;
  // Names after the comma do not count, but must be valid.
  return writeGivenName(givenName, personLetters, 3) ?? writeGivenName(certified, personLetters, 3);
};
