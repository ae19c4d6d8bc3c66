import type {
  Delivery,
  DeliveryList,
  DeliveryListQuery,
  DeliveryQuery,
  Replay,
  WebhookStats,
} from '../../contract/deliveries.ts';
import { type EventName, LATEST_CURSOR } from '../../contract/event-names.ts';
import type { Event } from '../../contract/event-payloads.ts';
import type { EventList, EventListQuery } from '../../contract/events.ts';
import type {
  Webhook,
  WebhookCreate,
  WebhookList,
  WebhookListQuery,
  WebhookPatch,
  WebhookPut,
  WebhookTest,
} from '../../contract/webhooks.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import {
  itemsOfPages,
  repeatedCursor,
  toPath,
  toQuery,
  withBody,
  withTimeLimit,
} from '../transport/request-parts.ts';
import { pause, retryUntilResponse, type WaitDeps, type WaitOptions } from '../transport/retry.ts';
import { Noun } from '../transport/transport.ts';
import { verifyWebhook, type WebhookDelivery } from '../verify-webhook.ts';

/** Page size at most 1000; without one, all webhooks. */
export type ListWebhooksOptions = QueryOptions<WebhookListQuery>;

/** Registered webhooks: `client.webhooks`. */
export class Webhooks extends Noun {
  /** POST /v1/webhooks: creates a webhook. Only this response contains the secret. */
  async create(webhook: WebhookCreate, options?: CallOptions): Promise<Webhook> {
    return await this.transport.call('POST', '/v1/webhooks', withBody(webhook, options));
  }

  /** GET /v1/webhooks: returns all webhooks, or a page of them with `limit`, with masked secrets. */
  async list(options: ListWebhooksOptions = {}): Promise<WebhookList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.transport.call('GET', `/v1/webhooks${query}`, options);
  }

  /** Iterates over the webhooks, page by page, with masked secrets. */
  all(options: ListWebhooksOptions = {}): AsyncGenerator<Webhook, void, undefined> {
    return itemsOfPages({ path: '/v1/webhooks', items: 'webhooks' }, options, (page) => this.list(page));
  }

  /** GET /v1/webhooks/:webhookId. */
  async get(id: string, options?: CallOptions): Promise<Webhook> {
    return await this.transport.call('GET', toPath('webhooks', id), options);
  }

  /** PATCH /v1/webhooks/:webhookId: changes URL and events. */
  async update(id: string, change: WebhookPatch, options?: CallOptions): Promise<Webhook> {
    return await this.transport.call('PATCH', toPath('webhooks', id), withBody(change, options));
  }

  /** PUT /v1/webhooks/:webhookId: changes the webhook, including the secret. The old secret also signs for 24 h. */
  async put(id: string, change: WebhookPut, options?: CallOptions): Promise<Webhook> {
    return await this.transport.call('PUT', toPath('webhooks', id), withBody(change, options));
  }

  /** DELETE /v1/webhooks/:webhookId: deletes the webhook with its log, and cancels pending deliveries. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.transport.send('DELETE', toPath('webhooks', id), options);
  }

  /** GET /v1/webhooks/:webhookId/stats: returns its health by the newest attempts, and counts of deliveries by outcome. */
  async stats(id: string, options: WebhookStatsOptions = {}): Promise<WebhookStats> {
    const { since, until } = options;
    return await this.transport.call(
      'GET',
      toPath('webhooks', id, 'stats') + toQuery({ since, until }),
      options,
    );
  }

  /** POST /v1/webhooks/:webhookId/test: sends one event and returns the outcome; this may take 10 s. */
  async test(id: string, options?: CallOptions): Promise<WebhookTest> {
    return await this.transport.call('POST', toPath('webhooks', id, 'test'), options);
  }

  /** Returns the event of a genuine delivery. Sends no request: receivers without a client use `verifyWebhook`. */
  async verify(delivery: WebhookDelivery): Promise<Event> {
    return await verifyWebhook(delivery);
  }
}

/** The period, ISO 8601; default the last 24 hours. */
type WebhookStatsOptions = CallOptions & { readonly since?: string; readonly until?: string };

/** Page size at most 200; default 50. */
export type ListDeliveriesOptions = QueryOptions<DeliveryListQuery>;

/** `wait`: maximum seconds to wait for the end of a pending delivery, at most 25; default 0. */
export type GetDeliveryOptions = QueryOptions<DeliveryQuery>;

/** Deliveries of a webhook, with every attempt: `client.deliveries`. */
export class Deliveries extends Noun {
  /** GET /v1/webhooks/:webhookId/deliveries: returns a page of deliveries, the newest first. */
  async list(webhookId: string, options: ListDeliveriesOptions = {}): Promise<DeliveryList> {
    const { status, eventId, limit, cursor } = options;
    const path = toPath('webhooks', webhookId, 'deliveries') + toQuery({ status, eventId, limit, cursor });
    return await this.transport.call('GET', path, options);
  }

  /** Iterates over the deliveries, the newest first, page by page. */
  all(webhookId: string, options: ListDeliveriesOptions = {}): AsyncGenerator<Delivery, void, undefined> {
    return itemsOfPages(
      { path: toPath('webhooks', webhookId, 'deliveries'), items: 'deliveries' },
      options,
      (page) => this.list(webhookId, page),
    );
  }

  /**
   * GET /v1/webhooks/:webhookId/deliveries/:deliveryId: with `wait`, returns as soon as the delivery is no longer pending.
   */
  async get(webhookId: string, deliveryId: string, options: GetDeliveryOptions = {}): Promise<Delivery> {
    const { wait } = options;
    const path = toPath('webhooks', webhookId, 'deliveries', deliveryId) + toQuery({ wait });
    return await this.transport.call('GET', path, withTimeLimit(options));
  }

  /** POST /v1/webhooks/:webhookId/deliveries/:deliveryId/replay: sends an ended delivery again. */
  async replay(webhookId: string, deliveryId: string, options?: CallOptions): Promise<Replay> {
    const path = toPath('webhooks', webhookId, 'deliveries', deliveryId, 'replay');
    return await this.transport.call('POST', path, options);
  }

  /**
   * POST /v1/webhooks/:webhookId/replay: sends all failed deliveries again that were created at `since` (ISO 8601) or later.
   */
  async replayFailed(webhookId: string, since: string, options?: CallOptions): Promise<Replay> {
    return await this.transport.call(
      'POST',
      toPath('webhooks', webhookId, 'replay') + toQuery({ since }),
      options,
    );
  }
}

const ALL_PAGE_SIZE = 1000;

/** Stored events, the same that webhooks receive: `client.events`. */
export class Events extends Noun {
  /**
   * GET /v1/events: returns a page of events, the oldest first unless `order` is newest. `nextCursor` continues the list, from
   * the oldest on also after the last event.
   */
  async list(options: ListEventsOptions = {}): Promise<EventList> {
    const { cursor, since, roomId, types, limit, order, wait } = options;
    const query = toQuery({ cursor, since, roomId, types: types?.join(','), limit, order, wait });
    return await this.transport.call('GET', `/v1/events${query}`, withTimeLimit(options));
  }

  /** Iterates over the events that are stored now, the oldest first, page by page. */
  all(
    options: CallOptions & EventFilter & { readonly cursor?: string } = {},
  ): AsyncGenerator<Event, void, undefined> {
    const list = { path: '/v1/events', items: 'events' } as const;
    return itemsOfPages(list, { ...options, limit: ALL_PAGE_SIZE }, async (page) => {
      const { events, nextCursor } = await this.list(page);
      // There is always a cursor, for future events. An empty page is the end of the stored events.
      return { events, nextCursor: events.length === 0 ? undefined : nextCursor };
    });
  }

  /**
   * Iterates over events as they are stored, without losing any during restarts of the service; see FollowEventsOptions.
   */
  follow(options: FollowEventsOptions = {}): AsyncGenerator<Event, void, undefined> {
    return followEvents({ list: (query) => this.list(query), ...this.transport.waiting }, options);
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
): AsyncGenerator<Event, void, undefined> {
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
