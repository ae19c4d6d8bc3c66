import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import type { RtcError } from '../../../client/rtc-error.ts';
import type { Event } from '../../../contract/events.ts';
import type { ConsoleInfo } from '../api/console-calls.ts';
import { type Connection, followEvents } from '../api/live-events.ts';
import { factsAfter, type LiveFacts, NO_FACTS } from '../api/live-facts.ts';
import { keysOfEvent } from '../api/query-keys.ts';
import { useRecovery } from './use-recovery.ts';

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
