import { cursorOf } from './cursor.ts';

/** Where a row stands in a list that is ordered by when its rows were made, and by id within a millisecond. */
type Place = { readonly createdAt: number; readonly id: string };

type Asked = { readonly cursor?: string | undefined; readonly limit: number };
type Wanted = { readonly after: Place | undefined; readonly limit: number };

/** Reads pages of the list of that name, which its cursors are good for alone; those throw invalid-request. */
export function pageReader(list: string) {
  const places = cursorOf(list, 'number', 'string');
  return async <Row extends Place>(
    { cursor, limit }: Asked,
    read: (wanted: Wanted) => Promise<readonly Row[]>,
  ): Promise<{ readonly rows: readonly Row[]; readonly nextCursor: string | null }> => {
    const after = cursor === undefined ? undefined : placeOf(places.decode(cursor));
    // One more, to know whether there are more.
    const found = await read({ after, limit: limit + 1 });
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const hasMore = found.length > limit && last !== undefined;
    return { rows, nextCursor: hasMore ? places.encode(last.createdAt, last.id) : null };
  };
}

function placeOf([createdAt, id]: readonly [number, string]): Place {
  return { createdAt, id };
}
