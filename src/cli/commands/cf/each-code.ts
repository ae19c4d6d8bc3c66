import type { Batch } from './batch.ts';
import { columnIndex, eachRow } from './csv-rows.ts';
import { eachLine } from './lines.ts';
import type { StreamSource } from './stream-source.ts';

/** A code has 16 characters; what is longer than this is no list of codes at all. */
const MAX_LINE_BYTES = 64 * 1024;

export type CodeVisitor = {
  readonly visitText: (code: string, line: number, input: () => string) => void;
  /** Absent: every line is made a text. */
  readonly visitBytes?: (bytes: Uint8Array, start: number, end: number, line: number) => void;
};

type Shape = { readonly column?: string | undefined; readonly delimiter: string | undefined };

/** The codes of a stream, one a line or in a column of CSV. */
export async function eachCode(
  batch: Batch,
  source: StreamSource,
  { column, delimiter }: Shape,
  visitor: CodeVisitor,
): Promise<void> {
  if (column === undefined) {
    await eachLine(source.chunks, MAX_LINE_BYTES, {
      visit:
        visitor.visitBytes ??
        ((bytes, start, end, line) => visitLine(visitor, textOf(bytes, start, end), line)),
      visitTooLong: (line) =>
        batch.reportBad({
          line,
          reason: 'length',
          message: `more than ${MAX_LINE_BYTES} bytes without a line end`,
          input: () => '',
        }),
      afterChunk: batch.pause,
    });
    return;
  }
  // A number means that the first row is data; a name, that it has the names.
  let index = /^[1-9]\d*$/.test(column) ? columnIndex(column, undefined) : undefined;
  await eachRow(source.chunks, delimiter, {
    ...(index === undefined
      ? {
          header: (cells: readonly string[]) => {
            index = columnIndex(column, cells);
          },
        }
      : {}),
    visit: ({ cells, line, input }) => visitor.visitText(cells[index ?? 0] ?? '', line, input),
    visitBroken: (line, message, input) =>
      batch.reportBad({ line, reason: 'csv', message, input: () => input }),
    afterRows: batch.pause,
  });
}

export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

function visitLine(visitor: CodeVisitor, code: string, line: number): void {
  visitor.visitText(code, line, () => code);
}
