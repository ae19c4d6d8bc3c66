import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

type Page<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null };

type Options<Item> = {
  readonly queryKey: readonly string[];
  readonly read: (cursor: string | undefined) => Promise<Page<Item>>;
};

export type Pages<Item> = {
  /** What was loaded so far; undefined before the first page. */
  readonly items: readonly Item[] | undefined;
  /** How many were loaded, `200+` where there are more. */
  readonly count: string | undefined;
  readonly error: Error | null;
  readonly refetch: () => void;
  /** Loads the next page; undefined where there is none, or it is under way. */
  readonly loadMore: (() => void) | undefined;
};

/** A list of the service that is loaded page by page, as far as somebody scrolls. */
export function usePages<Item>({ queryKey, read }: Options<Item>): Pages<Item> {
  const { data, error, hasNextPage, isFetchingNextPage, refetch, fetchNextPage } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const items = useMemo(() => data?.pages.flatMap((page) => page.items), [data]);
  return {
    items,
    count: items === undefined ? undefined : `${items.length.toLocaleString()}${hasNextPage ? '+' : ''}`,
    error,
    refetch: () => void refetch(),
    loadMore: hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined,
  };
}
