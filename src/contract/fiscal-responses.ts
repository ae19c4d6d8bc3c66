import type { DecodedCode, GeneratedCode, MatchResponse, Validity } from './fiscal-codes.ts';
import type { PlacePeriod, PlaceRecord } from './places.ts';

/*
 * Converts results of the fiscal library to the names of the API. Server and command line return the same. This file is
 * separate from the schemas, because the command line does not load TypeBox.
 */

/** The fields of the library's decoded code that a response needs. */
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

type Period = PlaceName & {
  readonly validFrom: string | null;
  readonly validTo: string | null;
  readonly isCurrent: boolean;
};

type PlaceName = { readonly codiceCatastale: string; readonly name: string; readonly province: string };

type Warning = NonNullable<Validity['warnings']>[number];

type Fault = {
  readonly reason: NonNullable<Validity['reason']>;
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly meant?: string;
};

type Checked =
  | { readonly ok: true; readonly warnings: readonly Warning[] }
  | { readonly ok: false; readonly reason: Fault['reason']; readonly faults: readonly Fault[] };

/** Returns the ten fields of the specification, in its order, and `details` if requested. */
export function decodedResponse(decoded: Decoded, { withDetails = false } = {}): DecodedCode {
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
    ...(withDetails ? { details: toDetails(decoded) } : {}),
  };
}

/** The fields of the library's generated code that a response needs. */
type Generated = {
  readonly codiceFiscale: string;
  readonly birthplace: Period & { readonly successor: PlaceName | null };
  readonly match: GeneratedDetails['why'];
  readonly warnings: readonly GeneratedDetails['warnings'][number][];
};

type GeneratedDetails = NonNullable<GeneratedCode['details']>;

/** Returns `{cf}`, and the chosen place if details are requested. */
export function generatedResponse(
  generated: Generated,
  { withDetails = false, ignored = [] }: { withDetails?: boolean; ignored?: readonly string[] } = {},
): GeneratedCode {
  const { codiceFiscale: cf, birthplace, match, warnings } = generated;
  if (!withDetails) return { cf };
  const belfiore = birthplace.successor?.codiceCatastale ?? birthplace.codiceCatastale;
  return {
    cf,
    details: {
      birthplace: periodResponse(birthplace, belfiore),
      why: match,
      warnings: [...warnings],
      ignored: [...ignored],
    },
  };
}

/** The fields of the library's match that a response needs. */
type Matched = {
  readonly matches: boolean;
  readonly parts: readonly {
    readonly part: keyof typeof WIRE_PARTS;
    readonly matches: boolean;
    readonly expected: string | number;
    readonly found: string | number;
  }[];
  readonly skipped: readonly (keyof typeof WIRE_PARTS)[];
  readonly compared: MatchResponse['compared'];
};

const WIRE_PARTS = {
  surname: 'surname',
  givenName: 'name',
  sex: 'gender',
  day: 'day',
  month: 'month',
  year: 'year',
  birthplace: 'place',
} as const;

export function matchResponse({ matches, parts, skipped, compared }: Matched): MatchResponse {
  return {
    matches,
    parts: parts.map((each) => ({ ...each, part: WIRE_PARTS[each.part] })),
    skipped: skipped.map((part) => WIRE_PARTS[part]),
    compared,
  };
}

/** The kinds of codes that count as valid: those of persons only, or every Italian tax code. */
export type Accepted = 'person' | 'any';

/** Returns `{valid, kind}`, and the reason of an invalid code; with details all errors and warnings. */
export function validityResponse(
  checked: Checked,
  { withDetails = false, accept = 'person' }: { withDetails?: boolean; accept?: Accepted } = {},
): Validity {
  if (checked.ok) {
    return { valid: true, kind: 'person', ...(withDetails ? { warnings: [...checked.warnings] } : {}) };
  }
  const kind = KINDS[checked.reason] ?? null;
  if (kind !== null && accept === 'any')
    return { valid: true, kind, ...(withDetails ? { warnings: [] } : {}) };
  const faults = withDetails ? { faults: faultsResponse(checked) } : {};
  return { valid: false, kind, reason: checked.reason, ...faults };
}

/** The kinds of codes of eleven digits, by the reason why they are no codes of persons. */
const KINDS: Partial<Readonly<Record<Fault['reason'], NonNullable<Validity['kind']>>>> = {
  'provisional-code': 'provisional',
  'vat-number': 'vat',
  'organisation-code': 'organisation',
};

export function faultsResponse({ faults }: { readonly faults: readonly Fault[] }): Fault[] {
  return faults.map(({ reason, start, end, message, meant }) => ({
    reason,
    start,
    end,
    message,
    ...(meant === undefined ? {} : { meant }),
  }));
}

/** Returns a place that was looked up or listed. `belfiore` is the code of the comune to which it belongs today. */
export function placeResponse(place: PlaceName, belfiore: string): PlaceRecord {
  return {
    code: place.codiceCatastale,
    belfiore_code: belfiore,
    province: place.province,
    name: place.name,
  };
}

/** As {@link placeResponse}, with the dates of the name. */
export function periodResponse(place: Period, belfiore: string): PlacePeriod {
  return {
    ...placeResponse(place, belfiore),
    from: place.validFrom,
    to: place.validTo,
    current: place.isCurrent,
  };
}

/** Returns whether the name was in force on the day. Without dates it may have been. */
export function isInForceOn(
  { validFrom, validTo }: Pick<Period, 'validFrom' | 'validTo'>,
  date: string,
): boolean {
  return (validFrom === null || validFrom <= date) && (validTo === null || date <= validTo);
}

type IstatProvince = { readonly abbreviation: string; readonly name: string; readonly validFrom: string };

/** Returns the province of ISTAT in the form of the API. */
export function istatProvinceResponse(
  province: IstatProvince | null,
): NonNullable<PlacePeriod['istatProvince']> | null {
  if (province === null) return null;
  const { abbreviation, name, validFrom } = province;
  return { abbreviation, name, from: validFrom };
}

function toDetails(decoded: Decoded): NonNullable<DecodedCode['details']> {
  const { birthplace } = decoded;
  const today = birthplace.today ?? birthplace.successor;
  return {
    baseCode: decoded.baseCode,
    omocodiaLevel: decoded.omocodia.level,
    otherBirthday: decoded.otherBirthDate,
    birthplaceCode: birthplace.codiceCatastale,
    birthplaceWasInForce: birthplace.wasInForce,
    birthplaceToday: today === null ? null : placeResponse(today, today.codiceCatastale),
    warnings: [...decoded.warnings],
  };
}

const HOUR_MS = 3_600_000;

const DAY_MS = 24 * HOUR_MS;

/**
 * Returns the date in Italy, in ISO form, at a Unix time in milliseconds, whatever the machine's time zone. Uses the rule of
 * Directive 2000/84/EC, because Node's time zone tables take 40 ms to load: summer time (UTC+2, else UTC+1) from the last
 * Sunday of March to that of October, each at 01:00 UTC.
 */
export function todayInItaly(nowMs: number): string {
  const year = new Date(nowMs).getUTCFullYear();
  const isSummer = nowMs >= lastSunday(year, MARCH) && nowMs < lastSunday(year, OCTOBER);
  return new Date(nowMs + (isSummer ? 2 : 1) * HOUR_MS).toISOString().slice(0, 10);
}

const MARCH = 2;

const OCTOBER = 9;

/** 01:00 UTC of the last Sunday of a month of 31 days. */
function lastSunday(year: number, month: number): number {
  const lastDay = new Date(Date.UTC(year, month, 31, 1));
  return lastDay.getTime() - lastDay.getUTCDay() * DAY_MS;
}
