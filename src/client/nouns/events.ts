import { type EventName, LATEST_CURSOR } from '../../contract/event-names.ts';
import type { EventList, EventListQuery, Event as StoredEvent } from '../../contract/events.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { itemsOfPages, repeatedCursor, timeoutOfWait, toQuery } from '../transport/request-parts.ts';
import { pause, retryUntilResponse, type WaitDeps, type WaitOptions } from '../transport/retry.ts';
import type { Transport } from '../transport/transport.ts';

const ALL_PAGE_SIZE = 1000;

/** Stored events, the same that webhooks receive: `client.events`. */
export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * GET /v1/events: returns a page of events, the oldest first unless `order` is newest. `nextCursor` continues the list, from
   * the oldest on also after the last event.
   */
  async list(options: ListEventsOptions = {}): Promise<EventList> {
    const { cursor, since, roomId, types, limit, order, wait } = options;
    const query = toQuery({ cursor, since, roomId, types: types?.join(','), limit, order, wait });
    const timeoutMs = options.timeoutMs ?? timeoutOfWait(wait);
    return await this.#transport.call('GET', `/v1/events${query}`, {
      ...options,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }

  /** Iterates over the events that are stored now, the oldest first, page by page. */
  all(
    options: CallOptions & EventFilter & { readonly cursor?: string } = {},
  ): AsyncGenerator<StoredEvent, void, undefined> {
    return itemsOfPages('/v1/events', options.cursor, async (cursor) => {
      const { events, nextCursor } = await this.list({ ...options, limit: ALL_PAGE_SIZE, cursor });
      // There is always a cursor, for future events. An empty page is the end of the stored events.
      return { items: events, nextCursor: events.length === 0 ? undefined : nextCursor };
    });
  }

  /**
   * Iterates over events as they are stored, without losing any during restarts of the service; see FollowEventsOptions.
   */
  follow(options: FollowEventsOptions = {}): AsyncGenerator<StoredEvent, void, undefined> {
    return followEvents({ list: (query) => this.list(query), ...this.#transport.waiting }, options);
  }
}

/** Events of one room, under these names of either table, stored at `since` (ISO 8601) or later. */
export type EventFilter = {
  readonly roomId?: string | undefined;
  readonly types?: readonly EventName[] | undefined;
  readonly since?: string | undefined;
};

/**
 * `cursor` is the nextCursor of the previous page, or `latest`. The page size is at most 1000, default 100. `wait`: maximum
 * seconds to wait for an event when there is none, at most 25, default 0.
 */
export type ListEventsOptions = EventFilter & QueryOptions<Omit<EventListQuery, keyof EventFilter | 'room'>>;

export type FollowEventsOptions = EventFilter &
  WaitOptions & {
    /** Position to start from; default `since`, and without either only future events. */
    readonly cursor?: string | undefined;
    /**
     * Called with the cursor to start from another time, whenever all events before it have been handled. The first call
     * means that the client is connected.
     */
    readonly onCursor?: ((cursor: string) => void) | undefined;
    /** Set when the service has responded before. Then the iteration waits for it from the first call on. */
    readonly isResumed?: boolean | undefined;
  };

type FollowDeps = WaitDeps & {
  readonly list: (options: ListEventsOptions) => Promise<EventList>;
};

const PATH = '/v1/events';

const WAIT_SECONDS = 25;

const PAGE_SIZE = 200;

const SHORTEST_WAIT_MS = 500;

/**
 * Iterates over the stored events in order, and then over each new one, by long poll. Waits for a service that is
 * unavailable, restarts or is overloaded, and sends the same cursor again, so that no event is lost. The first call must
 * succeed, except in a resumed iteration. A permanent error (credentials, an invalid parameter) ends the iteration, and so
 * does a service that repeats the cursor of the request with events, because they would be repeated forever.
 */
async function* followEvents(
  deps: FollowDeps,
  options: FollowEventsOptions,
): AsyncGenerator<StoredEvent, void, undefined> {
  const { roomId, types, since, signal } = options;
  const query = { roomId, types, since, limit: PAGE_SIZE, ...(signal === undefined ? {} : { signal }) };
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

/** A service that shuts down, or a proxy, may end a wait at once with an empty page. The next poll then waits a little. */
async function pollOnce(deps: FollowDeps, query: ListEventsOptions): Promise<EventList> {
  const startedAt = performance.now();
  const page = await deps.list(query);
  const isShort = page.events.length === 0 && performance.now() - startedAt < SHORTEST_WAIT_MS;
  if (isShort) await (deps.pause ?? pause)(SHORTEST_WAIT_MS, query.signal).catch(() => undefined);
  return page;
}
