import { notifyManager, type QueryClient, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { RtcError } from '../../../client/rtc-error.ts';
import type { Event } from '../../../contract/events.ts';
import { CHECKS, type ConsoleInfo, readReadiness } from '../api/console-calls.ts';
import { type Connection, followEvents } from '../api/live-events.ts';
import { factsAfter, keysOfEvent, type LiveFacts, NO_FACTS } from '../api/query-keys.ts';

type ConsoleState = {
  readonly info: ConsoleInfo;
  readonly connection: Connection;
  /** Why the service is unavailable. */
  readonly error: RtcError | undefined;
  readonly facts: LiveFacts;
};

const Context = createContext<ConsoleState | undefined>(undefined);

export function useConsole(): ConsoleState {
  const state = useContext(Context);
  if (state === undefined) throw new Error('useConsole is for parts of the console');
  return state;
}

/** Events of one burst cause one read of their lists. */
const BURST_MS = 150;

type Props = { readonly info: ConsoleInfo; readonly children: ReactNode };

/** Follows the events of the service and reads outdated data again, so that no view polls. */
export function ConsoleProvider({ info, children }: Props) {
  const queries = useQueryClient();
  const [connection, setConnection] = useState<Connection>('connecting');
  const [error, setError] = useState<RtcError>();
  const [facts, setFacts] = useState(NO_FACTS);
  useRecovery();
  const outdated = useRef(new Set<string>());
  useEffect(() => {
    let timer: number | undefined;
    const refresh = (): void => {
      const keys = [...outdated.current].map((key): readonly string[] => JSON.parse(key));
      outdated.current.clear();
      timer = undefined;
      for (const queryKey of keys) void queries.invalidateQueries({ queryKey });
    };
    const onEvent = (event: Event): void => {
      for (const key of keysOfEvent(event)) outdated.current.add(JSON.stringify(key));
      timer ??= window.setTimeout(refresh, BURST_MS);
      setFacts((before) => factsAfter(before, event));
    };
    let before: Connection = 'connecting';
    const stop = followEvents({
      onEvent,
      onConnection: (connected, reason) => {
        setConnection(connected);
        setError(reason);
        // The views read nothing before the first connection, and miss nothing after it.
        const isBack = connected === 'live' && before !== 'live' && before !== 'connecting';
        if (isBack) void queries.invalidateQueries();
        before = connected;
      },
    });
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, [queries]);
  const state = useMemo(() => ({ info, connection, error, facts }), [info, connection, error, facts]);
  return <Context value={state}>{children}</Context>;
}

/** How often the service is asked whether what it needs is back. */
const PAUSE_MS = 5_000;

/** The errors and the checks of what may be away for a while, such as during a restart. */
const CODES: readonly string[] = ['media-server-unavailable', 'storage-unavailable'];
const CHECKED: readonly string[] = ['media server', 'database'];

/**
 * While the view lacks something because the media server or the database is away, asks the service whether it is ready. When
 * it is, everything is read again, once. While it is not, the checks are made again, once, if they were made before that.
 */
function useRecovery(): void {
  const queries = useQueryClient();
  const isIncomplete = useIsIncomplete(queries);
  useEffect(() => {
    if (!isIncomplete) return undefined;
    let wasReady = false;
    let isChecked = false;
    const ask = async (): Promise<void> => {
      const isReady = await readReadiness().catch(() => false);
      if (isReady && !wasReady) void queries.invalidateQueries();
      if (!isReady && !isChecked && !hasAbsentCheck(queries)) {
        isChecked = true;
        void queries.invalidateQueries({ queryKey: CHECKS.queryKey });
      }
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
