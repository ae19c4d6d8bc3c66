import type { Language } from '../../../../fiscal/index.ts';
import type { Row } from '../../../../people/row.ts';
import type { Context } from '../../../framework/context.ts';
import { printStatus } from '../../../terminal/terminal.ts';
import { TEXTS } from '../texts.ts';
import type { Batch } from './batch.ts';
import type { StreamSource } from './stream-source.ts';
import { openTable, type TableOptions } from './table.ts';

/** The rows before the data of a table. */
export type TableHead = {
  /** Titles above the header. */
  readonly above: readonly Row[];
  readonly header: Row | undefined;
  /** The first rows, when none of them is a header. */
  readonly looked: readonly Row[];
  readonly delimiter: string;
  readonly describe: () => string;
};

export type TableWork = TableOptions & {
  readonly language: Language;
  readonly isHeader: (cells: readonly string[]) => boolean;
  /** Called once, before the first row. Returns a function that is called for each row. */
  readonly begin: (head: TableHead) => Promise<(row: Row) => void>;
};

/** Rows between two writes. */
const ROWS_PER_PAUSE = 2000;

/** Visits the rows of a table in order, including broken ones, which have a problem in place of cells. */
export async function eachTableRow(
  context: Context,
  batch: Batch,
  { source, ...work }: TableWork & { readonly source: StreamSource },
): Promise<void> {
  const table = await openTable(source, work);
  const { batches, ...head } = await splitHeader(table.batches, work.isHeader);
  const described = table.describe();
  const visit = await work.begin({ ...head, delimiter: table.delimiter, describe: table.describe });
  let count = 0;
  for await (const rows of batches) {
    for (const row of rows) {
      visit(row);
      count += 1;
      if (count % ROWS_PER_PAUSE === 0) await batch.pause();
    }
  }
  await batch.pause();
  // Letters with accents may have occurred late.
  if (table.describe() !== described)
    printStatus(context.terminal, TEXTS[work.language].readAs(table.describe()));
}

/** The row that names the columns, and the rows before and after it. */
export type HeadedRows = {
  /** Rows before the header, such as titles. */
  readonly above: readonly Row[];
  /** Undefined when no row names the columns. */
  readonly header: Row | undefined;
  /** The first rows, when none of them is a header. */
  readonly looked: readonly Row[];
  readonly batches: AsyncIterable<readonly Row[]>;
};

/** Rows that are searched for a header, because a title, a date and an empty line may precede it. */
const ROWS_LOOKED_AT = 20;

/** Finds the first row near the beginning that is a header. Without one all rows are data. */
async function splitHeader(
  batches: AsyncIterable<readonly Row[]>,
  isHeader: (cells: readonly string[]) => boolean,
): Promise<HeadedRows> {
  const rest = batches[Symbol.asyncIterator]();
  const beginning: Row[] = [];
  while (beginning.length < ROWS_LOOKED_AT) {
    const next = await rest.next();
    if (next.done === true) break;
    for (const row of next.value) beginning.push(row);
  }
  const at = beginning.slice(0, ROWS_LOOKED_AT).findIndex(({ cells }) => isHeader(cells));
  const data = async function* (): AsyncGenerator<readonly Row[]> {
    yield beginning.slice(at + 1);
    yield* { [Symbol.asyncIterator]: () => rest };
  };
  return {
    above: at < 0 ? [] : beginning.slice(0, at),
    header: beginning[at],
    looked: at < 0 ? beginning.slice(0, ROWS_LOOKED_AT) : [],
    batches: data(),
  };
}
