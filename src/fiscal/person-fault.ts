/** An error of a person's data. */
import type { PlaceNotFound } from './geography/find-place.ts';
import type { Place } from './geography/place.ts';

/** The fields that can be invalid. */
export type PersonField = 'surname' | 'givenName' | 'sex' | 'birthDate' | 'birthplace' | 'province';

/** One error of a person's data. */
export type PersonFault = PersonFaultFacts & {
  /** A message in English without any part of the person's data. `messages` has it in other languages. */
  readonly message: string;
};

/** The facts that a message describes. */
export type PersonFaultFacts = {
  readonly field: PersonField;
  readonly reason: PersonFaultReason;
  /** The kind of the suggestions for an unknown birthplace, as in {@link PlaceNotFound}. */
  readonly hint?: PlaceNotFound['hint'];
  /** The places that fit an ambiguous birthplace. */
  readonly candidates?: readonly Place[];
  /** Places that an unknown birthplace may mean. */
  readonly suggestions?: readonly Place[];
};

export type PersonFaultReason =
  /** The field is absent, of the wrong type or empty. */
  | 'missing'
  /** A name without any letter. */
  | 'no-letters'
  /** A name with a character that no name has: a digit, a symbol, another script. */
  | 'characters'
  /** A name is given although the data say that the person has none. */
  | 'contradiction'
  /** A sex that is neither F nor M, a date that does not exist, a name that belongs to no place, or an unknown province. */
  | 'unknown'
  | 'future'
  /** Born before 1850. Nobody of that age was alive in 1973, when codes began. */
  | 'too-early'
  | 'ambiguous'
  /** Only with `strict`. */
  | 'not-in-force';
