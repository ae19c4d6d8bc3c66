import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';

export type Cursored = { readonly nextCursor?: string | null };

/** How a list is read. */
export type Source<Page extends Cursored, Item> = {
  readonly queryKey: readonly string[];
  readonly read: (cursor: string | undefined) => Promise<Page>;
  readonly items: (page: Page) => readonly Item[];
  /** Default true. */
  readonly isEnabled?: boolean;
  /** How often it is read again, perhaps by what was loaded; without it, only after an event. */
  readonly refreshMs?: number | ((items: readonly Item[]) => number | undefined) | undefined;
};

export type Pages<Item> = {
  /** The items that were loaded so far; undefined before the first page. */
  readonly items: readonly Item[] | undefined;
  /** Number of loaded items, `200+` if there are more. */
  readonly count: string | undefined;
  readonly error: Error | null;
  readonly refetch: () => void;
  readonly hasMore: boolean;
  /** Loads the next page; undefined when there is none, or when it is being loaded. */
  readonly loadMore: (() => void) | undefined;
};

/** A list of the service that is loaded page by page while the user scrolls. */
export function usePages<Page extends Cursored, Item>(source: Source<Page, Item>): Pages<Item> {
  const { queryKey, read, items: pick, refreshMs, isEnabled = true } = source;
  const { data, error, hasNextPage, isFetchingNextPage, refetch, fetchNextPage } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    enabled: isEnabled,
    refetchInterval: ({ state }) => {
      if (typeof refreshMs !== 'function') return refreshMs ?? false;
      return refreshMs(state.data?.pages.flatMap(pick) ?? []) ?? false;
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page always has its items at the same place
  const items = useMemo(() => data?.pages.flatMap(pick), [data]);
  return {
    items,
    count: items === undefined ? undefined : `${items.length.toLocaleString()}${hasNextPage ? '+' : ''}`,
    error,
    refetch: () => void refetch(),
    hasMore: hasNextPage,
    loadMore: hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined,
  };
}

const DEBOUNCE_MS = 300;

/** The typed text after a pause of the typing, so that the service is not called for each key. */
export function useDebounced(text: string): string {
  const [debounced, setSettled] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), DEBOUNCE_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return debounced;
}
