import type { CheckWarning } from './check.ts';
import type { CheckFault } from './check-failure.ts';
import type { CheckReason } from './check-status.ts';
import type { TaxCodeKind } from './check-tax-code.ts';
import type { PlaceNotFound } from './geography/find-place.ts';
import type { PlaceMatch } from './geography/look-up-place.ts';
import type { MatchExtent, MatchPartName } from './match.ts';
import type { PersonWarning } from './person.ts';
import type { PersonFaultFacts, PersonFaultReason } from './person-fault.ts';

export type Language = 'en' | 'it';

/** All messages of the library. A message contains no part of a code or of a person's data. */
export type Messages = {
  /** Describes an error of a code, and its position. */
  readonly codeFault: (fault: Pick<CheckFault, 'detail' | 'start' | 'end'>) => string;
  /** Describes an error of a field of a person's data. */
  readonly personFault: (fault: PersonFaultFacts) => string;
  /** Reasons of a check, for a report or a heading. */
  readonly checkReasons: Readonly<Record<CheckReason, string>>;
  /** Reasons of faults in a person's data, for a report or a heading. */
  readonly personReasons: Readonly<Record<PersonFaultReason, string>>;
  readonly warnings: Readonly<Record<CheckWarning | PersonWarning, string>>;
  /** Describes what to do about a place that was not found. */
  readonly hints: Readonly<Record<PlaceHint, string>>;
  readonly kinds: Readonly<Record<TaxCodeKind, string>>;
  readonly parts: Readonly<Record<MatchPartName, string>>;
  /** How much a match proves. */
  readonly extents: Readonly<Record<MatchExtent, string>>;
  /** Why a place was chosen. */
  readonly placeMatches: Readonly<Record<PlaceMatch, string>>;
};

/** The hints for a place that was not found, and `ambiguous` for several places with one name. */
export type PlaceHint = NonNullable<PlaceNotFound['hint']> | 'ambiguous';
