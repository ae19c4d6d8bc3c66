import type { Event, EventList } from '../../contract/events.ts';
import type { CallOptions } from '../client-options.ts';
import { queryOf, timeoutOfWait } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import {
  type EventFilter,
  type FollowEventsOptions,
  followEvents,
  type ListEventsOptions,
} from './follow-events.ts';
import { itemsOfPages } from './pages.ts';

const ALL_PAGE_SIZE = 1000;

/** Stored events, the same that webhooks receive: `client.events`. */
export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * GET /v1/events: returns a page of events, the oldest first. `nextCursor` continues the list, also after the last event.
   */
  async list(options: ListEventsOptions = {}): Promise<EventList> {
    const { cursor, since, room, types, limit, wait } = options;
    const query = queryOf({ cursor, since, room, types: types?.join(','), limit, wait });
    const timeoutMs = options.timeoutMs ?? timeoutOfWait(wait);
    return await this.#transport.call('GET', `/v1/events${query}`, {
      ...options,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }

  /** Iterates over the events that are stored now, the oldest first, page by page. */
  all(
    options: CallOptions & EventFilter & { readonly cursor?: string } = {},
  ): AsyncGenerator<Event, void, undefined> {
    return itemsOfPages('/v1/events', options.cursor, async (cursor) => {
      const { events, nextCursor } = await this.list({ ...options, limit: ALL_PAGE_SIZE, cursor });
      // There is always a cursor, for future events. An empty page is the end of the stored events.
      return { items: events, nextCursor: events.length === 0 ? undefined : nextCursor };
    });
  }

  /**
   * Iterates over events as they are stored, without losing any during restarts of the service; see FollowEventsOptions.
   */
  follow(options: FollowEventsOptions = {}): AsyncGenerator<Event, void, undefined> {
    return followEvents({ list: (query) => this.list(query), ...this.#transport.waiting }, options);
  }
}
