import { setImmediate } from 'node:timers/promises';
import { HucreError } from 'hucre';
import { readXlsx, streamXlsxRows } from 'hucre/xlsx';
import type { CellValue, Row } from '../../../../people/row.ts';
import { bilingualError } from '../../../errors/bilingual-error.ts';
import { CancelledError } from '../../../errors/cli-error.ts';
import { checkParts } from './workbook-parts.ts';

/** Rows of a batch. */
const ROWS_PER_BATCH = 500;

/**
 * Reads the rows of a sheet: the first one that is not hidden, unless one is named.
 *
 * @throws CliError (usage) for a file that is no workbook, and for an unknown sheet
 */
export async function* xlsxRows(
  chunks: AsyncIterable<Uint8Array>,
  { sheet, signal }: { readonly sheet: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = [];
  let isEmpty = true;
  let rows = 0;
  try {
    const bytes = await allBytes(chunks);
    checkParts(bytes);
    const chosen = sheet ?? (await firstVisibleSheet(bytes));
    for await (const { index, values } of streamXlsxRows(bytes, { sheet: chosen })) {
      isEmpty = false;
      // Rows are parsed without a turn of the event loop, in which a signal would arrive.
      rows += 1;
      if (rows % ROWS_PER_BATCH === 0) await setImmediate();
      if (signal.aborted) throw new CancelledError('stopped');
      const cells = values.map(textOfValue);
      if (cells.every((cell) => cell === '')) continue;
      batch.push({ cells, line: index + 1, raw: cells.join('\t'), values });
      if (batch.length < ROWS_PER_BATCH) continue;
      yield batch;
      batch = [];
    }
  } catch (cause) {
    if (!(cause instanceof HucreError || cause instanceof RangeError)) throw cause;
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

/** Reads everything, because most programs write the texts of a workbook after its sheets. */
async function allBytes(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** The index of the first visible sheet; of the first one when all are hidden. */
async function firstVisibleSheet(bytes: Uint8Array): Promise<number> {
  let first: number | undefined;
  await readXlsx(bytes, {
    // Called for each sheet before any is read, so that none needs to be.
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

/** Formats a value as it is shown, except dates, which are written in ISO form. */
function textOfValue(value: CellValue | undefined): string {
  if (value === null || value === undefined) return '';
  return value instanceof Date ? value.toISOString().slice(0, 10) : String(value).trim();
}
