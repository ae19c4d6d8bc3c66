import { type Language, messages } from '../../../../fiscal/index.ts';
import type { RowProblem } from '../../../../people/csv-rows.ts';
import {
  type Generated,
  placeLabel,
  type RecordErrors,
  type Rules,
} from '../../../../people/person-record.ts';
import { TEXTS } from '../texts.ts';

/** Describes the errors of a person's fields. */
export function toFault(errors: RecordErrors, { language }: Rules): RowFault {
  const { fields, reasons } = TEXTS[language];
  const texts: Readonly<Record<string, string>> = {
    ...reasons,
    ...messages[language].checkReasons,
    ...messages[language].personReasons,
  };
  const all = Object.entries(errors);
  return {
    reason: all.map(([field]) => field).join(','),
    message: all.map(([, { message }]) => message).join('; '),
    // A message about a place may name it, and would be counted separately.
    labels: all.map(([field, { reason, message }]) =>
      field === 'city' ? `${fields[field] ?? field}: ${texts[reason] ?? reason}` : message,
    ),
  };
}

/** Returns the errors of a person, with the places that an ambiguous name may mean. */
export function errorsWithPlaces(
  { errors, candidates }: Extract<Generated, { readonly ok: false }>,
  { language }: Rules,
): RecordErrors {
  const { city } = errors;
  if (city === undefined || candidates.length === 0) return errors;
  const labels = candidates.slice(0, MOST_CANDIDATES).map((place) => placeLabel(place, language));
  const more = candidates.length > MOST_CANDIDATES ? '; ...' : '';
  return { ...errors, city: { ...city, message: `${city.message}: ${labels.join('; ')}${more}` } };
}

const MOST_CANDIDATES = 5;

/** The error of a row, as a run over many rows reports it. */
export type RowFault = {
  /** The reason of a code, or the wrong fields. */
  readonly reason: string;
  readonly message: string;
  /** Labels that the report at the end counts, one for each error. */
  readonly labels: readonly string[];
};

/** Returns the error of a row that could not be read. */
export function rowFault(problem: RowProblem, language: Language): RowFault {
  const { rowProblems, brokenRow } = TEXTS[language];
  return { reason: 'csv', message: rowProblems[problem], labels: [brokenRow] };
}
