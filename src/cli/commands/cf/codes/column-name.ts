import { folded } from '../../../../people/columns.ts';
import { bilingualError } from '../../../errors/bilingual-error.ts';

/** Which cell of a row is meant by a column's name, or by its number from 1. */
export function columnIndex(column: string, header: readonly string[] | undefined): number {
  if (header === undefined) return Number(column) - 1;
  const at = indexOfName(header, column);
  if (at !== -1) return at;
  // The first row may be a person's: it is not shown.
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

export function hasName(header: readonly string[], column: string): boolean {
  return indexOfName(header, column) !== -1;
}

function indexOfName(header: readonly string[], column: string): number {
  const wanted = folded(column);
  return header.findIndex((name) => folded(name) === wanted);
}
