import type { DateInput } from './calendar-date.ts';
import { MONTH_LETTERS } from './characters.ts';
import { checkLetterIndex } from './check-character.ts';
import { readToday } from './check-status.ts';
import { PLACE_LETTERS } from './code-table.ts';
import { lastMatch, type PlaceMatch } from './geography/look-up-place.ts';
import { type Birthplace, birthplaceAt } from './geography/place.ts';
import { toCodeText } from './omocodia.ts';
import {
  type InspectedPerson,
  inspectPerson,
  type Person,
  type PersonWarning,
  personFaults,
  personWarnings,
} from './person.ts';
import type { PersonFault } from './person-fault.ts';

export type GenerateOptions = {
  /** The current date. A birth after it is invalid. */
  readonly asOf: DateInput;
  /** Rejects a place that was not in force on the birth date, instead of a warning. */
  readonly strict?: boolean | undefined;
  /** False leaves out similar names for an unknown birthplace. Searching for them costs as much as a thousand codes. */
  readonly suggest?: boolean | undefined;
};

export type GeneratedCode = {
  readonly ok: true;
  readonly codiceFiscale: string;
  readonly birthplace: Birthplace;
  /** Why this birthplace was chosen. */
  readonly match: PlaceMatch;
  readonly warnings: readonly PersonWarning[];
};

export type GenerateResult = GeneratedCode | { readonly ok: false; readonly faults: readonly PersonFault[] };

/**
 * Generates the codice fiscale of a person, DM 12 March 1974 and 23 December 1976. All errors are returned at once. Only
 * the tax office issues codes: because of omocodia, the person's real code may be another of the 128 forms. @throws
 * TypeError only for invalid options.
 */
export const generate = (person: Person, options: GenerateOptions): GenerateResult => {
  const inspected = inspectPerson(person, readToday(options?.asOf));
  const { isGood, date, slot, wasInForce } = inspected;
  if (!isGood || slot < 0 || (options.strict === true && !wasInForce)) {
    return { ok: false, faults: personFaults(person, options) };
  }
  return {
    ok: true,
    codiceFiscale: toCodeText(completeCode(inspected)),
    birthplace: birthplaceAt(slot, date),
    match: lastMatch(),
    warnings: personWarnings(inspected),
  };
};

/** Writes birth, place and check character behind the letters of the names. Women's days have 40 added. */
const completeCode = ({ letters: code, date, isFemale, slot }: InspectedPerson): Uint8Array => {
  const day = isFemale ? (date % 100) + 40 : date % 100;
  const year = ((date / 10_000) | 0) % 100;
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
  return code;
};
