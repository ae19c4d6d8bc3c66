import { toIsoDate } from './calendar-date.ts';
import { type CheckWarning, readWarnings } from './check.ts';
import { type CheckFailure, explainFailure } from './check-failure.ts';
import { CHECK_STATUS, type CheckOptions, readSettings } from './check-status.ts';
import { type Birthplace, birthplaceAt } from './geography/place.ts';
import { inspectText, parts, upperCaseText } from './inspect-code.ts';
import { type OmocodiaDetail, omocodiaDetail, toBaseCode } from './omocodia.ts';

/** The facts about a person in a codice fiscale. */
export type DecodedCode = {
  readonly ok: true;
  /** The code, upper case. */
  readonly codiceFiscale: string;
  /** The three letters of the surname, and of the given name. */
  readonly surname: string;
  readonly givenName: string;
  readonly sex: 'F' | 'M';
  /** The birth date in ISO form `YYYY-MM-DD`, and its parts. */
  readonly birthDate: string;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** The birth date by the other century; null if the year can be read in only one way. */
  readonly otherBirthDate: string | null;
  /** Name and province in force on the birth date. If there are none, the next later ones. */
  readonly birthplace: Birthplace;
  /** The code without omocodia. At level 0 this is the code itself. */
  readonly baseCode: string;
  readonly omocodia: OmocodiaDetail;
  readonly warnings: readonly CheckWarning[];
};

export type DecodeResult = DecodedCode | CheckFailure;

/**
 * Decodes a valid codice fiscale; for any other it returns what `check` returns. The two-digit year is the latest one whose
 * whole date is not after `asOf`. If the place was not in force then, but a century before, it is that earlier year.
 * @throws TypeError only for invalid options.
 */
export const decode = (code: string, options: CheckOptions): DecodeResult => {
  const status = inspectText(code, readSettings(options));
  if (status > CHECK_STATUS.validWithWarnings) return explainFailure(code, status);
  const codiceFiscale = upperCaseText(code);
  const { birthDate, otherBirthDate, mask } = parts;
  return {
    ok: true,
    codiceFiscale,
    surname: codiceFiscale.slice(0, 3),
    givenName: codiceFiscale.slice(3, 6),
    sex: parts.isFemale ? 'F' : 'M',
    birthDate: toIsoDate(birthDate),
    year: (birthDate / 10_000) | 0,
    month: parts.month,
    day: parts.day,
    otherBirthDate: otherBirthDate === 0 ? null : toIsoDate(otherBirthDate),
    birthplace: birthplaceAt(parts.slot, birthDate),
    warnings: readWarnings(),
    omocodia: omocodiaDetail(mask),
    baseCode: toBaseCode(codiceFiscale),
  };
};
