import type * as wire from '../contract/fiscal-codes.ts';
import type { PlacePeriod, PlaceRecord } from '../contract/places.ts';
import type {
  CheckFault,
  CheckReason,
  CheckResult,
  DecodedCode,
  GeneratedCode,
  IstatProvince,
  Match,
  MatchPartName,
  Place,
  TaxCodeKind,
} from '../fiscal/index.ts';

/*
 * Converts results of the fiscal library to the names of the API. Server and command line return the same. This file is
 * separate from the schemas, because the command line does not load TypeBox.
 */

type Period = PlaceName & Pick<Place, 'validFrom' | 'validTo' | 'isCurrent'>;

type PlaceName = Pick<Place, 'codiceCatastale' | 'name' | 'province'>;

/** Returns the ten fields of the specification, in its order, and `details` if requested. */
export function decodedResponse(decoded: DecodedCode, { withDetails = false } = {}): wire.DecodedCode {
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

/** Returns `{cf}`, and the chosen place if details are requested. */
export function generatedResponse(
  generated: GeneratedCode,
  { withDetails = false, ignored = [] }: { withDetails?: boolean; ignored?: readonly string[] } = {},
): wire.GeneratedCode {
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

const WIRE_PARTS = {
  surname: 'surname',
  givenName: 'name',
  sex: 'gender',
  day: 'day',
  month: 'month',
  year: 'year',
  birthplace: 'place',
} as const satisfies Readonly<Record<MatchPartName, string>>;

export function matchResponse({ matches, parts, skipped, compared }: Match): wire.MatchResponse {
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
  checked: CheckResult,
  { withDetails = false, accept = 'person' }: { withDetails?: boolean; accept?: Accepted } = {},
): wire.Validity {
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
const KINDS: Partial<Readonly<Record<CheckReason, TaxCodeKind>>> = {
  'provisional-code': 'provisional',
  'vat-number': 'vat',
  'organisation-code': 'organisation',
};

export function faultsResponse({
  faults,
}: {
  readonly faults: readonly CheckFault[];
}): NonNullable<wire.Validity['faults']> {
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

/** Returns the province of ISTAT in the form of the API. */
export function istatProvinceResponse(
  province: IstatProvince | null,
): NonNullable<PlacePeriod['istatProvince']> | null {
  if (province === null) return null;
  const { abbreviation, name, validFrom } = province;
  return { abbreviation, name, from: validFrom };
}

function toDetails(decoded: DecodedCode): NonNullable<wire.DecodedCode['details']> {
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
