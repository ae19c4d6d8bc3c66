import { HucreError } from 'hucre';
import { readXlsx, streamXlsxRows } from 'hucre/xlsx';
import type { CellValue, Row } from '../../../../people/row.ts';
import { bilingualError } from '../../../errors/bilingual-error.ts';

/** Rows handed on at a time. */
const ROWS_PER_BATCH = 500;

/**
 * The rows of a sheet: the first one that is not hidden, unless one is named.
 *
 * @throws CliError (usage) for what is no workbook, and for a sheet that is not there
 */
export async function* xlsxRows(
  chunks: AsyncIterable<Uint8Array>,
  sheet: string | undefined,
): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = [];
  let isEmpty = true;
  try {
    const bytes = await allBytes(chunks);
    const chosen = sheet ?? (await firstVisibleSheet(bytes));
    for await (const { index, values } of streamXlsxRows(bytes, { sheet: chosen })) {
      isEmpty = false;
      const cells = values.map(textOfValue);
      if (cells.every((cell) => cell === '')) continue;
      batch.push({ cells, line: index + 1, raw: cells.join('\t'), values });
      if (batch.length < ROWS_PER_BATCH) continue;
      yield batch;
      batch = [];
    }
  } catch (cause) {
    if (!(cause instanceof HucreError)) throw cause;
    // The library's message may quote the sheet.
    throw bilingualError(
      ['the workbook cannot be read', NEXT],
      ['la cartella di lavoro non è leggibile', NEXT_IN_ITALIAN],
      { cause },
    );
  }
  if (isEmpty && sheet !== undefined)
    throw bilingualError(
      [
        `the workbook has no sheet ${JSON.stringify(sheet)}, or it is empty`,
        'leave --sheet out for the first one',
      ],
      [
        `la cartella di lavoro non ha un foglio ${JSON.stringify(sheet)}, o il foglio è vuoto`,
        'togliere --sheet per leggere il primo',
      ],
    );
  yield batch;
}

/** Whole, since most programs write the texts of a workbook behind its sheets. */
async function allBytes(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** The index of the first sheet that people see; where all are hidden, of the first one. */
async function firstVisibleSheet(bytes: Uint8Array): Promise<number> {
  let first: number | undefined;
  await readXlsx(bytes, {
    // Asked for each sheet before any is read; none needs to be.
    sheets: ({ index, hidden, veryHidden }) => {
      if (hidden !== true && veryHidden !== true) first ??= index;
      return false;
    },
  });
  return first ?? 0;
}

const NEXT =
  'is it an .xlsx file without a password, and --sheet one of its sheets? Else save it as one, or as CSV';
const NEXT_IN_ITALIAN =
  'è un file .xlsx senza password, e --sheet uno dei suoi fogli? Altrimenti salvarlo così, o come CSV';

/** As it is shown, but for dates, which are written as ISO has them. */
function textOfValue(value: CellValue | undefined): string {
  if (value === null || value === undefined) return '';
  return value instanceof Date ? value.toISOString().slice(0, 10) : String(value).trim();
}
