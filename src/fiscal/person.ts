/** A person's data, and its possible errors. */
import type { DateInput } from './calendar-date.ts';
import type { PlaceNotFound } from './find-place.ts';
import type { NameFault } from './name-code.ts';
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

export const NOT_IN_FORCE: PersonFault = Object.freeze(
  fault({ field: 'birthplace', reason: 'not-in-force' }),
);

type NameField = 'surname' | 'givenName';

export const nameFault = (field: NameField, reason: NameFault | 'missing' | 'contradiction'): PersonFault =>
  fault({ field, reason: reason === 'letters' ? 'no-letters' : reason });

export const sexFault = (sex: unknown): PersonFault =>
  fault({ field: 'sex', reason: sex === undefined || sex === null || sex === '' ? 'missing' : 'unknown' });

/** Creates the error of a birth date, from the input and its date number. */
export const dateFault = (input: unknown, date: number, today: number): PersonFault => {
  const field = 'birthDate';
  if (input === undefined || input === null || input === '') return fault({ field, reason: 'missing' });
  if (date === 0) return fault({ field, reason: 'unknown' });
  return fault({ field, reason: date > today ? 'future' : 'too-early' });
};

export const placeFault = ({ reason, hint, candidates, suggestions }: PlaceNotFound): PersonFault => {
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
