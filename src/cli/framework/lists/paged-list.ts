import { type Column, type ListResult, list, type Result } from '../../terminal/result.ts';
import type { Context } from '../context.ts';
import { moreNotes, type Page, readPages } from './read-pages.ts';
import { watchList } from './watch-list.ts';

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
