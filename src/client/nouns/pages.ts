import { RtcError } from '../rtc-error.ts';

/** The largest page that the service gives of most lists: all items take the fewest requests. */
export const LARGEST_PAGE = 200;

type Page<T> = {
  readonly items: readonly T[];
  /** The cursor of the next page; null or undefined after the last one. */
  readonly nextCursor: string | null | undefined;
};

/**
 * Iterates over the items of all pages. Each page is fetched when the previous one has been read.
 * @param path for the error about a server that repeats its cursor, which would never end
 */
export async function* itemsOfPages<T>(
  path: string,
  firstCursor: string | undefined,
  fetchPage: (cursor: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  let cursor = firstCursor;
  for (;;) {
    const { items, nextCursor } = await fetchPage(cursor);
    yield* items;
    if (nextCursor === undefined || nextCursor === null) return;
    if (nextCursor === cursor) throw repeatedCursor(path);
    cursor = nextCursor;
  }
}

export function repeatedCursor(path: string): RtcError {
  const detail = 'the service repeats the cursor of the page before';
  return new RtcError({ method: 'GET', path, code: 'unexpected-answer', detail });
}
