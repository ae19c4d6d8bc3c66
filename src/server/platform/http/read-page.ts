import { cursorOf } from './cursor.ts';

/** Position of a row in a list that is ordered by creation time and id. */
type Position = { readonly createdAt: number; readonly id: string };

type PageRequest = { readonly cursor?: string | undefined; readonly limit: number };
type RowRequest = { readonly after: Position | undefined; readonly limit: number };

/** Reads pages of the list of that name. A cursor of another list throws invalid-request. */
export function pageReader(list: string) {
  const positions = cursorOf(list, 'number', 'string');
  return async <Row extends Position>(
    { cursor, limit }: PageRequest,
    read: (wanted: RowRequest) => Promise<readonly Row[]>,
  ): Promise<{ readonly rows: readonly Row[]; readonly nextCursor: string | null }> => {
    const after = cursor === undefined ? undefined : positionOf(positions.decode(cursor));
    // Reads one row more, to know whether there is a next page.
    const found = await read({ after, limit: limit + 1 });
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const hasMore = found.length > limit && last !== undefined;
    return { rows, nextCursor: hasMore ? positions.encode(last.createdAt, last.id) : null };
  };
}

function positionOf([createdAt, id]: readonly [number, string]): Position {
  return { createdAt, id };
}
