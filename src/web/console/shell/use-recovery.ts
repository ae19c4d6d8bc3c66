import { notifyManager, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useSyncExternalStore } from 'react';
import { RtcError } from '../../../client/rtc-error.ts';
import { CHECKS, readReadiness } from '../api/console-calls.ts';

/** How often the service is asked whether what it needs is back. */
const PAUSE_MS = 5_000;

/** The errors and the checks of what may be away for a while, such as during a restart. */
const CODES: readonly string[] = ['media-server-unavailable', 'storage-unavailable'];
const CHECKED: readonly string[] = ['media server', 'database'];

/**
 * While the view lacks something because the media server or the database is away, asks the service whether it is ready. When
 * it is, everything is read again, once.
 */
export function useRecovery(): void {
  const queries = useQueryClient();
  const isIncomplete = useIsIncomplete(queries);
  useEffect(() => {
    if (!isIncomplete) return undefined;
    let wasReady = false;
    const ask = async (): Promise<void> => {
      const isReady = await readReadiness().catch(() => false);
      if (isReady && !wasReady) void queries.invalidateQueries();
      wasReady = isReady;
    };
    const timer = window.setInterval(() => void ask(), PAUSE_MS);
    return () => window.clearInterval(timer);
  }, [isIncomplete, queries]);
}

function useIsIncomplete(queries: QueryClient): boolean {
  const subscribe = useCallback(
    (notify: () => void) => queries.getQueryCache().subscribe(notifyManager.batchCalls(notify)),
    [queries],
  );
  return useSyncExternalStore(subscribe, () => hasAbsentError(queries) || hasAbsentCheck(queries));
}

function hasAbsentError(queries: QueryClient): boolean {
  return queries
    .getQueryCache()
    .findAll({ type: 'active' })
    .some(({ state: { error } }) => error instanceof RtcError && CODES.includes(error.code));
}

function hasAbsentCheck(queries: QueryClient): boolean {
  const [active] = queries.getQueryCache().findAll({ type: 'active', queryKey: CHECKS.queryKey });
  const checks = active === undefined ? undefined : queries.getQueryData(CHECKS.queryKey);
  return checks?.some(({ check, status }) => status === 'fault' && CHECKED.includes(check)) === true;
}
