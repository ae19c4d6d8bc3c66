import { messages } from '../../../../fiscal/index.ts';
import type { Context } from '../../../framework/context.ts';
import type { Result } from '../../../terminal/result.ts';
import { type Batch, runBatch } from '../files/batch.ts';
import { type ByteLine, eachLine } from '../files/lines.ts';
import { rowFault } from '../files/row-fault.ts';
import { refuseBinary, type StreamSource } from '../files/stream-source.ts';
import { TEXTS } from '../texts.ts';
import { findCodeColumn, isCodeHeader, type ManyCodes } from './code-column.ts';

/** Maximum line. A code has 16 characters, so a longer line is not part of a list of codes. */
const MAX_LINE_BYTES = 64 * 1024;

export type CodeVisitor = {
  readonly visitText: (code: string, line: number, input: () => string) => void;
  /** When absent, every line is converted to text. */
  readonly visitBytes?: (line: ByteLine) => void;
};

/** Visits the codes of a stream, one per line or in a column of a table. */
export function eachCode(
  context: Context,
  options: ManyCodes,
  makeVisitor: (batch: Batch) => CodeVisitor,
): Promise<Result> {
  const isTable = holdsTable(options);
  return runBatch(context, { ...options, linesAreCodes: !isTable }, async (batch, source) => {
    const visitor = makeVisitor(batch);
    if (isTable) await eachCell(context, batch, { ...options, source, visitor });
    else await eachCodeLine(batch, { source, visitor, language: options.language });
  });
}

/** Whether the input has columns, by the options or the file's name. */
function holdsTable({ column, sheet, append, file = '' }: ManyCodes): boolean {
  return column !== undefined || sheet !== undefined || append === true || /\.(?:csv|tsv|xlsx)$/i.test(file);
}

type CellsOptions = ManyCodes & { readonly source: StreamSource; readonly visitor: CodeVisitor };

async function eachCell(
  context: Context,
  batch: Batch,
  { source, visitor, ...options }: CellsOptions,
): Promise<void> {
  const { eachTableRow } = await import('../files/each-table-row.ts');
  await eachTableRow(context, batch, {
    ...options,
    source,
    isHeader: isCodeHeader(options.column),
    begin: async (head) => {
      const index = findCodeColumn(context, head, options);
      return ({ cells, line, raw, problem }) => {
        const input = (): string => raw;
        if (problem === undefined) visitor.visitText(cells[index] ?? '', line, input);
        else batch.reportBad({ ...rowFault(problem, options.language), line, input });
      };
    },
  });
}

type LinesOptions = Pick<CellsOptions, 'source' | 'visitor' | 'language'>;

async function eachCodeLine(batch: Batch, { source, visitor, language }: LinesOptions): Promise<void> {
  await eachLine(refuseBinary(source.chunks), MAX_LINE_BYTES, {
    visit:
      visitor.visitBytes ??
      ((line) => {
        const code = textOf(line);
        visitor.visitText(code, line.number, () => code);
      }),
    visitTooLong: (line) =>
      batch.reportBad({
        line,
        reason: 'length',
        message: TEXTS[language].noLineEnd(MAX_LINE_BYTES),
        labels: [`length: ${messages[language].checkReasons.length}`],
        input: () => '',
      }),
    afterChunk: batch.pause,
  });
}

export function textOf({ bytes, start, end }: ByteLine): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}
