import { createRowReader, findColumns, missingFields, missingForMatch } from '../../../../people/columns.ts';
import type { Row } from '../../../../people/csv-rows.ts';
import type { PersonRecord, Rules } from '../../../../people/person-record.ts';
import { bilingualError } from '../../../errors/cli-error.ts';
import type { Context } from '../../../framework/context.ts';
import { printStatus } from '../../../terminal/terminal.ts';
import type { TableHead } from '../files/each-table-row.ts';
import { TEXTS } from '../texts.ts';

/** The purpose of each row: a code is made of all data, and compared with what there is of them. */
export type Purpose = 'generate' | 'match';

/** Returns a function that says whether a row names the columns that the purpose needs. */
export function createHeaderTest(purpose: Purpose): (cells: readonly string[]) => boolean {
  return (cells) => missingFor(purpose, cells).length === 0;
}

function missingFor(purpose: Purpose, cells: readonly string[]): readonly string[] {
  const columns = findColumns(cells);
  return purpose === 'match' ? missingForMatch(columns) : missingFields(columns);
}

/**
 * Reports how the table was understood, and returns a function that reads its rows.
 *
 * @throws CliError (usage) when no row names the columns that the purpose needs
 */
export function readPeople(
  { terminal }: Context,
  { header, headless, describe }: TableHead,
  { language, purpose }: Rules & { readonly purpose: Purpose },
): (row: Row) => PersonRecord {
  if (header === undefined) throw missingColumns(missingFor(purpose, headless[0]?.cells ?? []));
  const columns = findColumns(header.cells);
  const { indexOf } = columns;
  const understood = [...indexOf].map(
    ([field, index]) => [field, (header.cells[index] ?? '').trim()] as const,
  );
  printStatus(
    terminal,
    TEXTS[language].understood(describe(), understood, header.cells.length - indexOf.size),
  );
  const readRecord = createRowReader(columns);
  return ({ cells, values }) => {
    const record = readRecord(cells);
    const date = values?.[indexOf.get('date') ?? -1];
    return typeof date === 'number' ? { ...record, date: dateOfSerial(date) } : record;
  };
}

/** A spreadsheet counts days from 30 December 1899, when no format marks the number as a date. */
function dateOfSerial(days: number): string {
  const isDay = Number.isInteger(days) && days > 0 && days < MOST_DAYS;
  return isDay ? new Date(FIRST_DAY_MS + days * DAY_MS).toISOString().slice(0, 10) : String(days);
}

const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(1899, 11, 30);
/** The year 2064; a larger number is a date by its digits, such as 1021980. */
const MOST_DAYS = 60_000;

function missingColumns(missing: readonly string[]): Error {
  // The first row may be about a person, so it is not shown.
  return bilingualError(
    [
      `the first row names no column for ${missing.join(', ')}`,
      'columns: name, surname, gender, birthday (or day, month, year), city and, if need be, province; Italian names will do',
    ],
    [
      `la prima riga non ha una colonna per ${missing.map((field) => TEXTS.it.fields[field] ?? field).join(', ')}`,
      'colonne: Nome, Cognome, Sesso, Data di nascita (o giorno, mese, anno), Comune di nascita e, se serve, Provincia',
    ],
  );
}
