import { RtcError } from '../rtc-error.ts';

type Page<T> = {
  readonly items: readonly T[];
  /** The cursor of the next page; null or undefined after the last one. */
  readonly nextCursor: string | null | undefined;
};

/**
 * The items of all pages, each page fetched when the one before has been read.
 * @param path for the error of a server that repeats its cursor and would be asked for ever
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
