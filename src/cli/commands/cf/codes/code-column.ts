import { findColumns, folded } from '../../../../people/columns.ts';
import { bilingualError } from '../../../errors/cli-error.ts';
import type { Context } from '../../../framework/context.ts';
import { printStatus } from '../../../terminal/terminal.ts';
import type { BatchOptions } from '../files/batch.ts';
import type { TableHead } from '../files/each-table-row.ts';
import { TEXTS } from '../texts.ts';

/** Source of many codes, and destination of the results. */
export type ManyCodes = Omit<BatchOptions, 'linesAreCodes'> & {
  readonly column: string | undefined;
  readonly delimiter: string | undefined;
  readonly sheet: string | undefined;
  readonly append?: boolean | undefined;
};

/** Returns whether a row names the column of the codes. No row does if the user gave the number of the column. */
export function isCodeHeader(column: string | undefined): (cells: readonly string[]) => boolean {
  if (column === undefined) return (cells) => findColumns(cells).indexOf.has('cf');
  return isNumber(column) ? () => false : (cells) => hasName(cells, column);
}

/**
 * Returns the index of the column: the named or numbered one, the one whose name means codes, or the only one.
 *
 * @throws CliError (usage) when there is none
 */
export function findCodeColumn(
  { terminal }: Context,
  { header, headless, describe }: TableHead,
  { column, language }: Pick<ManyCodes, 'column' | 'language'>,
): number {
  if (column !== undefined) {
    return columnIndex(column, isNumber(column) ? undefined : ((header ?? headless[0])?.cells ?? []));
  }
  if (header === undefined) {
    if (headless.every(({ cells }) => cells.length <= 1)) return 0;
    throw bilingualError(
      [
        'no column is called codice fiscale',
        'name the column of the codes, such as --column cf, or give its number',
      ],
      [
        'nessuna colonna si chiama codice fiscale',
        'indicare la colonna dei codici, per esempio --column cf, o il suo numero',
      ],
    );
  }
  const index = findColumns(header.cells).indexOf.get('cf') ?? 0;
  printStatus(
    terminal,
    TEXTS[language].understood(describe(), [['cf', header.cells[index] ?? '']], header.cells.length - 1),
  );
  return index;
}

function isNumber(column: string): boolean {
  return /^[1-9]\d*$/.test(column);
}

/** Index of the cell that a column's name, or its number from 1, means. */
function columnIndex(column: string, header: readonly string[] | undefined): number {
  if (header === undefined) return Number(column) - 1;
  const at = indexOfName(header, column);
  if (at !== -1) return at;
  // The first row may be about a person, so it is not shown.
  throw bilingualError(
    [
      `no column of the first row has the name ${JSON.stringify(column)}`,
      'without a row of names, give the number of the column: --column 1',
    ],
    [
      `nessuna colonna della prima riga ha il nome ${JSON.stringify(column)}`,
      'senza una riga di nomi, indicare il numero della colonna: --column 1',
    ],
  );
}

function hasName(header: readonly string[], column: string): boolean {
  return indexOfName(header, column) !== -1;
}

function indexOfName(header: readonly string[], column: string): number {
  const wanted = folded(column);
  return header.findIndex((name) => folded(name) === wanted);
}
