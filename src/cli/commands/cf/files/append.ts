import type { Language } from '../../../../fiscal/index.ts';
import type { CellValue, Row, RowProblem } from '../../../../people/csv-rows.ts';
import type { Context } from '../../../framework/context.ts';
import type { Result } from '../../../terminal/result.ts';
import { type RowFault, rowFault } from '../people/faults.ts';
import { type AddedColumn, TEXTS } from '../texts.ts';
import { type Batch, type BatchOptions, runBatch } from './batch.ts';
import { eachTableRow, type TableHead } from './each-table-row.ts';

/** Cells that are added to a row, and the error of the row, if there is one. */
export type Addition = {
  readonly values: Readonly<Partial<Record<AddedColumn, string>>>;
  readonly fault?: RowFault;
};

export type AppendWork = BatchOptions & {
  readonly delimiter: string | undefined;
  readonly sheet: string | undefined;
  readonly added: readonly AddedColumn[];
  readonly isHeader: (cells: readonly string[]) => boolean;
  /** Called once. Returns a function that is called for each row. Throws a usage error when columns are missing. */
  readonly begin: (head: TableHead) => (row: Row) => Addition;
};

/** Writes every row of a table again, in order and complete, with added columns. */
export function appendToRows(context: Context, work: AppendWork): Promise<Result> {
  return runBatch(context, work, async (batch, source) => {
    await eachTableRow(context, batch, {
      source,
      language: work.language,
      delimiter: work.delimiter,
      sheet: work.sheet,
      isHeader: work.isHeader,
      begin: (head) => beginRows(batch, head, work),
    });
  });
}

async function beginRows(batch: Batch, head: TableHead, work: AppendWork): Promise<(row: Row) => void> {
  const addTo = work.begin(head);
  const { columns } = TEXTS[work.language];
  const rows = await batch.openRows(head.delimiter);
  const width = head.header?.cells.length ?? 0;
  for (const row of head.above) rows.row(toValues(row));
  if (head.header !== undefined)
    rows.row([...toValues(head.header), ...work.added.map((column) => columns[column])]);
  return (row) => {
    const values = toValues(row);
    while (values.length < width) values.push(null);
    const { values: added, fault } =
      row.problem === undefined ? addTo(row) : brokenRow(row.problem, work.language);
    for (const column of work.added) values.push(added[column] ?? '');
    rows.row(values);
    if (fault === undefined) batch.countGood();
    else batch.reportBad({ ...fault, line: row.line, input: () => row.raw });
  };
}

function toValues({ values, cells, problem, raw }: Row): CellValue[] {
  return problem === undefined ? [...(values ?? cells)] : [raw];
}

function brokenRow(problem: RowProblem, language: Language): Addition {
  const fault = rowFault(problem, language);
  return { values: { reason: fault.message }, fault };
}
