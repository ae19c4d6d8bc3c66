import { type EventName, LATEST_CURSOR } from '../../contract/event-names.ts';
import type { Event, EventList, EventListQuery } from '../../contract/events.ts';
import type { QueryOptions } from '../client-options.ts';
import { pause } from '../transport/retry.ts';
import { retryUntilResponse, type WaitDeps, type WaitOptions } from '../transport/retry-until-response.ts';
import { repeatedCursor } from './pages.ts';

/** Events of one room, under these names of either table, stored at `since` (ISO 8601) or later. */
export type EventFilter = {
  readonly room?: string | undefined;
  readonly types?: readonly EventName[] | undefined;
  readonly since?: string | undefined;
};

/**
 * A cursor is the nextCursor of the page before, or `latest`; page size at most 1000, default 100; `wait` in seconds for
 * an event when there is none, at most 25, default 0.
 */
export type ListEventsOptions = EventFilter & QueryOptions<Omit<EventListQuery, keyof EventFilter>>;

export type FollowEventsOptions = EventFilter &
  WaitOptions & {
    /** The position to begin at; default `since`, and without either the events from now on. */
    readonly cursor?: string | undefined;
    /** Called with the cursor to begin with another time, whenever all events before it have been handled. The first call means that the client is connected. */
    readonly onCursor?: ((cursor: string) => void) | undefined;
    /** Set where the service has answered before: then it is waited for from the first call on. */
    readonly isResumed?: boolean | undefined;
  };

export type FollowDeps = WaitDeps & {
  readonly list: (options: ListEventsOptions) => Promise<EventList>;
};

const PATH = '/v1/events';
const WAIT_SECONDS = 25;
const PAGE_SIZE = 200;
const SHORTEST_WAIT_MS = 500;

/**
 * The stored events in their order, and then each new one as it comes, by long poll. It waits for a service that goes
 * away, restarts or is overloaded, and sends the same cursor again: nothing is lost. The first call must succeed
 * (but for a resumed iteration), and
 * an error that does not pass (credentials, a bad parameter) ends the iteration, as does a service that sends events
 * under the cursor that it was asked with: they would come for ever.
 */
export async function* followEvents(
  deps: FollowDeps,
  options: FollowEventsOptions,
): AsyncGenerator<Event, void, undefined> {
  const { room, types, since, signal } = options;
  const query = { room, types, since, limit: PAGE_SIZE, ...(signal === undefined ? {} : { signal }) };
  const isFromNow = options.cursor === undefined && since === undefined;
  let cursor = isFromNow ? LATEST_CURSOR : options.cursor;
  const readFirst = (): Promise<EventList> => deps.list({ ...query, cursor });
  let page = await (options.isResumed === true ? retryUntilResponse(deps, options, readFirst) : readFirst());
  for (;;) {
    if (page.events.length > 0 && page.nextCursor === cursor) throw repeatedCursor(PATH);
    yield* page.events;
    cursor = page.nextCursor;
    options.onCursor?.(cursor);
    page = await retryUntilResponse(deps, options, () =>
      pollOnce(deps, { ...query, cursor, wait: WAIT_SECONDS }),
    );
  }
}

/** A service that shuts down, or a proxy, may end a wait at once with an empty page: the next poll then waits a little. */
async function pollOnce(deps: FollowDeps, query: ListEventsOptions): Promise<EventList> {
  const startedAt = performance.now();
  const page = await deps.list(query);
  const isShort = page.events.length === 0 && performance.now() - startedAt < SHORTEST_WAIT_MS;
  if (isShort) await (deps.pause ?? pause)(SHORTEST_WAIT_MS, query.signal).catch(() => undefined);
  return page;
}
