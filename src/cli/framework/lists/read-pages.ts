import { CliError, EXIT } from '../../errors/cli-error.ts';
import { type Column, type ListResult, list, type Result } from '../../terminal/result.ts';
import type { Context } from '../context.ts';
import { option, wholeNumber } from '../parameters.ts';
import { watchList } from './watch-list.ts';

/** The API's largest page. */
const PAGE_SIZE = 200;
const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 10_000;
/** Reads every record, over as many pages as needed. */
export const NO_LIMIT = Number.POSITIVE_INFINITY;

export const LIMIT = option(
  '--limit <n>',
  `maximum number; default ${DEFAULT_LIMIT}`,
  wholeNumber(1, MAX_LIMIT),
);

export type Page = { readonly limit: number; readonly cursor: string | undefined };
type PageResponse<T> = { readonly records: readonly T[]; readonly nextCursor: string | null };

/** Reads as many records as requested, over as many pages as needed. */
export async function readPages<T>(
  limit: number | undefined,
  read: (page: Page) => Promise<PageResponse<T>>,
): Promise<{ readonly records: T[]; readonly nextCursor: string | null }> {
  const most = limit ?? DEFAULT_LIMIT;
  const all: T[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const { records, nextCursor } = await read({ limit: Math.min(PAGE_SIZE, most - all.length), cursor });
    all.push(...records);
    if (nextCursor === null || all.length >= most) return { records: all, nextCursor };
    if (cursors.has(nextCursor)) throw repeatedCursor();
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}

/** The error for a server with a list without an end. */
export function repeatedCursor(): CliError {
  return new CliError(
    EXIT.failure,
    'the service repeated a cursor, so its list would never end',
    'report it to the operator of the service; --limit reads the first page only',
  );
}

/** Explains how to see more records, if there are any. */
export function moreNotes(limit: number | undefined, nextCursor: string | null): readonly string[] {
  if (nextCursor === null) return [];
  const next = Math.min((limit ?? DEFAULT_LIMIT) * 2, MAX_LIMIT);
  return limit === MAX_LIMIT ? ['There are more; choose among them.'] : [`There are more: --limit ${next}`];
}

/** A page of the API. The field with its records has the name of the list. */
type ListResponse<Name extends string, R> = Readonly<Record<Name, readonly R[]>> & {
  readonly nextCursor: string | null;
};

type PagedList<Name extends string, R> = Pick<ListResult, 'isWrapped' | 'isCsv'> & {
  readonly name: Name;
  readonly read: (page: Page) => Promise<ListResponse<Name, R>>;
  readonly columns: readonly Column<R>[];
  readonly identify: (record: R) => string;
  /** Printed on stderr when the list is empty. */
  readonly empty: string;
  /** Printed on stderr, only on a terminal, after the note that there are more. */
  readonly notes?: (records: readonly R[]) => readonly string[];
};

type Choice = { readonly limit: number | undefined; readonly watch?: boolean };

/** Returns the list that a command prints: the pages for `--limit` as one; with `--watch` repeatedly. */
export async function pagedList<Name extends string, R extends object>(
  context: Context,
  { limit, watch = false }: Choice,
  { name, read, notes, ...view }: PagedList<Name, R>,
): Promise<Result> {
  const readList = async (): Promise<ListResult> => {
    const { records, nextCursor } = await readPages(limit, async (page) => {
      const response = await read(page);
      return { records: response[name], nextCursor: response.nextCursor };
    });
    return list({
      ...view,
      response: { [name]: records, nextCursor },
      records,
      notes: [...moreNotes(limit, nextCursor), ...(notes?.(records) ?? [])],
    });
  };
  return watch ? watchList(context, readList) : readList();
}
