import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useRef } from 'react';
import type { Delivery } from '../../../contract/deliveries.ts';
import { KEYS } from '../api/query-keys.ts';
import { DeliveryLog, type DeliveryRows } from './delivery-log.ts';

const NONE: DeliveryRows = { rows: [], hasMore: false };

/** The deliveries of a webhook: `more` loads further ones, and new and changed ones are loaded by themselves. */
export function useDeliveries(webhookId: string, status: Delivery['status'] | undefined) {
  const queries = useQueryClient();
  const log = useMemo(
    () => new DeliveryLog(webhookId, status === undefined ? undefined : [status]),
    [webhookId, status],
  );
  const queryKey = useMemo(() => [...KEYS.deliveries(), webhookId, status ?? 'all'], [webhookId, status]);
  const isReading = useRef(false);
  const {
    data = NONE,
    error,
    isLoading,
  } = useQuery({
    queryKey,
    queryFn: () => log.refresh(),
    refetchInterval: ({ state }) => untilNextAttempt(state.data?.rows ?? []),
  });
  const { hasMore } = data;
  const more = useCallback(() => {
    if (!hasMore || isReading.current) return;
    isReading.current = true;
    const done = (): void => {
      isReading.current = false;
    };
    log
      .more()
      .then((rows) => queries.setQueryData(queryKey, rows))
      .then(done, done);
  }, [log, queries, queryKey, hasMore]);
  const forget = useCallback(() => log.forget(), [log]);
  return { ...data, error, isLoading, more, forget };
}

/** The newest deliveries of all states, for the plot. */
export function useNewestDeliveries(webhookId: string): readonly Delivery[] {
  const log = useMemo(() => new DeliveryLog(webhookId, [undefined]), [webhookId]);
  const { data = NONE } = useQuery({
    queryKey: [...KEYS.deliveries(), webhookId, 'newest'],
    queryFn: async () => {
      let found = await log.refresh();
      while (found.hasMore && found.rows.length < MOST_PLOTTED) found = await log.more();
      return found;
    },
  });
  return data.rows;
}

export const MOST_PLOTTED = 1_000;

const SOONEST_MS = 1_000;
const LATEST_MS = 30_000;

/** An attempt causes no event, but its due time is known. */
function untilNextAttempt(rows: readonly Delivery[]): number | false {
  const due = rows.flatMap(({ nextAttemptAt }) =>
    nextAttemptAt === null ? [] : [Date.parse(nextAttemptAt)],
  );
  if (due.length === 0) return false;
  return Math.min(Math.max(Math.min(...due) - Date.now() + SOONEST_MS, SOONEST_MS), LATEST_MS);
}
