import { useEffect, useState } from 'react';
import type { EventType } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import { client } from '../api/client.ts';

export type EventFilter = {
  readonly room: string | undefined;
  /** Empty for all kinds. */
  readonly types: readonly EventType[];
  /** ISO 8601. */
  readonly since: string;
};

type EventStream = {
  /** Newest first. */
  readonly events: readonly Event[];
  readonly error: unknown;
  /** Whether all events until now are loaded. */
  readonly isLoaded: boolean;
};

/** Maximum events in memory; the oldest are dropped. */
const MOST_EVENTS = 20_000;
/** Minimum time between two updates of the view, because a page of events arrives at once. */
const SHOW_EVERY_MS = 100;

/** The stored events since an instant, and each new one. */
export function useEventStream(filter: EventFilter): EventStream {
  const [stream, setStream] = useState<EventStream>({ events: [], error: undefined, isLoaded: false });
  useEffect(() => {
    const controller = new AbortController();
    let events: Event[] = [];
    let timer: number | undefined;
    setStream({ events: [], error: undefined, isLoaded: false });
    const show = (): void => {
      timer = undefined;
      events = events.slice(-MOST_EVENTS);
      setStream({ events: events.toReversed(), error: undefined, isLoaded: true });
    };
    const follow = async (): Promise<void> => {
      const { types, ...rest } = filter;
      const followed = client.events.follow({
        ...rest,
        ...(types.length === 0 ? {} : { types }),
        signal: controller.signal,
        onCursor: () => {
          timer ??= window.setTimeout(show, SHOW_EVERY_MS);
        },
      });
      for await (const event of followed) events.push(event);
    };
    follow().catch((error: unknown) => {
      if (!controller.signal.aborted) setStream((before) => ({ ...before, error }));
    });
    return () => {
      controller.abort();
      window.clearTimeout(timer);
    };
  }, [filter]);
  return stream;
}
