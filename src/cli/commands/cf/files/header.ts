import type { Row } from '../../../../people/row.ts';

/** The row that names the columns, what stands above it, and what comes after. */
export type HeadedRows = {
  /** Titles and the like. */
  readonly above: readonly Row[];
  /** Undefined where no row names them. */
  readonly header: Row | undefined;
  /** The first rows, where none is a header. */
  readonly looked: readonly Row[];
  readonly batches: AsyncIterable<readonly Row[]>;
};

/** A title, a date and an empty line may stand above the names. */
const ROWS_LOOKED_AT = 20;

/** Finds the first row near the beginning that is a header; with none, all rows are data. */
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
