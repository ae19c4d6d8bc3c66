import type { Row } from '../../../../people/row.ts';

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
export async function splitHeader(
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
