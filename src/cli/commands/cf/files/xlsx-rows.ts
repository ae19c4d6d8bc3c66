import { HucreError } from 'hucre';
import { streamXlsxRows } from 'hucre/xlsx';
import type { CellValue, Row } from '../../../../people/row.ts';
import { CliError, EXIT, usageError } from '../../../errors/cli-error.ts';

/** Rows handed on at a time. */
const ROWS_PER_BATCH = 500;

/**
 * The rows of a sheet, the first one unless another is named.
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
    for await (const { index, values } of streamXlsxRows(ReadableStream.from(chunks), {
      sheet: sheet ?? 0,
    })) {
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
    throw new CliError(EXIT.usage, 'the workbook cannot be read', NEXT, { cause });
  }
  if (isEmpty && sheet !== undefined)
    throw usageError(
      `the workbook has no sheet ${JSON.stringify(sheet)}, or it is empty`,
      'leave --sheet out for the first one',
    );
  yield batch;
}

const NEXT =
  'is it an .xlsx file without a password, and --sheet one of its sheets? Else save it as one, or as CSV';

/** As it is shown, but for dates, which are written as ISO has them. */
function textOfValue(value: CellValue | undefined): string {
  if (value === null || value === undefined) return '';
  return value instanceof Date ? value.toISOString().slice(0, 10) : String(value).trim();
}
