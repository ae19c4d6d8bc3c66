import type { DecodedCode, Validity } from './fiscal-codes.ts';
import type { PlaceRecord } from './places.ts';

/*
 * What the fiscal library finds, under the names of the wire; server and command line answer the same. Apart from the
 * schemas, since the command line does not load TypeBox.
 */

/** What is taken of the library's decoded code. */
type Decoded = {
  readonly codiceFiscale: string;
  readonly surname: string;
  readonly givenName: string;
  readonly sex: 'F' | 'M';
  readonly birthDate: string;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly otherBirthDate: string | null;
  readonly birthplace: {
    readonly codiceCatastale: string;
    readonly name: string;
    readonly province: string;
    readonly wasInForce: boolean;
    readonly today: PlaceName | null;
    readonly successor: PlaceName | null;
  };
  readonly baseCode: string;
  readonly omocodia: { readonly level: number };
  readonly warnings: readonly Warning[];
};

type PlaceName = { readonly codiceCatastale: string; readonly name: string; readonly province: string };
type Warning = NonNullable<Validity['warnings']>[number];

type Fault = {
  readonly reason: NonNullable<Validity['reason']>;
  readonly start: number;
  readonly end: number;
  readonly message: string;
};

type Checked =
  | { readonly ok: true; readonly warnings: readonly Warning[] }
  | { readonly ok: false; readonly reason: Fault['reason']; readonly faults: readonly Fault[] };

/** The ten fields of the specification, in its order, and `details` where they are wanted. */
export function decodedAnswer(decoded: Decoded, { withDetails = false } = {}): DecodedCode {
  return {
    name: decoded.givenName,
    surname: decoded.surname,
    gender: decoded.sex,
    day: decoded.day,
    month: decoded.month,
    year: decoded.year,
    birthday: decoded.birthDate,
    birthplace: decoded.birthplace.name,
    birthplaceProvincia: decoded.birthplace.province,
    cf: decoded.codiceFiscale,
    ...(withDetails ? { details: detailsOf(decoded) } : {}),
  };
}

/** `{valid: true}` or `{valid: false, reason}`; all that is wrong or odd where details are wanted. */
export function validityAnswer(checked: Checked, { withDetails = false } = {}): Validity {
  if (checked.ok) return { valid: true, ...(withDetails ? { warnings: [...checked.warnings] } : {}) };
  return { valid: false, reason: checked.reason, ...(withDetails ? { faults: faultsAnswer(checked) } : {}) };
}

export function faultsAnswer({ faults }: { readonly faults: readonly Fault[] }): Fault[] {
  return faults.map(({ reason, start, end, message }) => ({ reason, start, end, message }));
}

/** A place that was looked up or listed; `belfiore` is the code of the comune that holds it today. */
export function placeAnswer(place: PlaceName, belfiore: string): PlaceRecord {
  return {
    code: place.codiceCatastale,
    belfiore_code: belfiore,
    province: place.province,
    name: place.name,
  };
}

function detailsOf(decoded: Decoded): NonNullable<DecodedCode['details']> {
  const { birthplace } = decoded;
  const today = birthplace.today ?? birthplace.successor;
  return {
    baseCode: decoded.baseCode,
    omocodiaLevel: decoded.omocodia.level,
    otherBirthday: decoded.otherBirthDate,
    birthplaceCode: birthplace.codiceCatastale,
    birthplaceWasInForce: birthplace.wasInForce,
    birthplaceToday: today === null ? null : placeAnswer(today, today.codiceCatastale),
    warnings: [...decoded.warnings],
  };
}
