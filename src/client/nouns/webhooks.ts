import type {
  Delivery,
  DeliveryList,
  DeliveryListQuery,
  DeliveryQuery,
  Replay,
  WebhookStats,
} from '../../contract/deliveries.ts';
import type { Event } from '../../contract/event-payloads.ts';
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
  LARGEST_PAGE,
  timeoutOfWait,
  toQuery,
  webhookPath,
  withBody,
} from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { verifyWebhook, type WebhookDelivery } from '../verify-webhook.ts';

/** Page size at most 1000; without one, all webhooks. */
export type ListWebhooksOptions = QueryOptions<WebhookListQuery>;

/** Registered webhooks: `client.webhooks`. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** POST /v1/webhooks: creates a webhook. Only this response contains the secret. */
  async create(webhook: WebhookCreate, options?: CallOptions): Promise<Webhook> {
    return await this.#transport.call('POST', '/v1/webhooks', withBody(webhook, options));
  }

  /** GET /v1/webhooks: returns all webhooks, or a page of them with `limit`, with masked secrets. */
  async list(options: ListWebhooksOptions = {}): Promise<WebhookList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.#transport.call('GET', `/v1/webhooks${query}`, options);
  }

  /** Iterates over the webhooks, page by page, with masked secrets. */
  all(options: ListWebhooksOptions = {}): AsyncGenerator<Webhook, void, undefined> {
    return itemsOfPages('/v1/webhooks', options.cursor, async (cursor) => {
      const { webhooks, nextCursor } = await this.list({ limit: LARGEST_PAGE, ...options, cursor });
      return { items: webhooks, nextCursor };
    });
  }

  /** GET /v1/webhooks/:webhookId. */
  async get(id: string, options?: CallOptions): Promise<Webhook> {
    return await this.#transport.call('GET', webhookPath(id), options);
  }

  /** PATCH /v1/webhooks/:webhookId: changes URL and events. */
  async update(id: string, change: WebhookPatch, options?: CallOptions): Promise<Webhook> {
    return await this.#transport.call('PATCH', webhookPath(id), withBody(change, options));
  }

  /** PUT /v1/webhooks/:webhookId: changes the webhook, including the secret. The old secret also signs for 24 h. */
  async put(id: string, change: WebhookPut, options?: CallOptions): Promise<Webhook> {
    return await this.#transport.call('PUT', webhookPath(id), withBody(change, options));
  }

  /** DELETE /v1/webhooks/:webhookId: deletes the webhook with its log, and cancels pending deliveries. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', webhookPath(id), options);
  }

  /** GET /v1/webhooks/:webhookId/stats: returns its health by the newest attempts, and counts of deliveries by outcome. */
  async stats(id: string, options: WebhookStatsOptions = {}): Promise<WebhookStats> {
    const { since, until } = options;
    return await this.#transport.call('GET', webhookPath(id, 'stats') + toQuery({ since, until }), options);
  }

  /** POST /v1/webhooks/:webhookId/test: sends one event and returns the outcome; this may take 10 s. */
  async test(id: string, options?: CallOptions): Promise<WebhookTest> {
    return await this.#transport.call('POST', webhookPath(id, 'test'), options);
  }

  /** Returns the event of a genuine delivery. Sends no request: receivers without a client use `verifyWebhook`. */
  async verify(delivery: WebhookDelivery): Promise<Event> {
    return await verifyWebhook(delivery);
  }
}

/** The period, ISO 8601; default the last 24 hours. */
export type WebhookStatsOptions = CallOptions & { readonly since?: string; readonly until?: string };

/** Page size at most 200; default 50. */
export type ListDeliveriesOptions = QueryOptions<DeliveryListQuery>;

/** `wait`: maximum seconds to wait for the end of a pending delivery, at most 25; default 0. */
export type GetDeliveryOptions = QueryOptions<DeliveryQuery>;

/** Deliveries of a webhook, with every attempt: `client.deliveries`. */
export class Deliveries {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** GET /v1/webhooks/:webhookId/deliveries: returns a page of deliveries, the newest first. */
  async list(webhookId: string, options: ListDeliveriesOptions = {}): Promise<DeliveryList> {
    const { status, eventId, limit, cursor } = options;
    const path = webhookPath(webhookId, 'deliveries') + toQuery({ status, eventId, limit, cursor });
    return await this.#transport.call('GET', path, options);
  }

  /** Iterates over the deliveries, the newest first, page by page. */
  all(webhookId: string, options: ListDeliveriesOptions = {}): AsyncGenerator<Delivery, void, undefined> {
    return itemsOfPages(webhookPath(webhookId, 'deliveries'), options.cursor, async (cursor) => {
      const page = await this.list(webhookId, { limit: LARGEST_PAGE, ...options, cursor });
      return { items: page.deliveries, nextCursor: page.nextCursor };
    });
  }

  /**
   * GET /v1/webhooks/:webhookId/deliveries/:deliveryId: with `wait`, returns as soon as the delivery is no longer pending.
   */
  async get(webhookId: string, deliveryId: string, options: GetDeliveryOptions = {}): Promise<Delivery> {
    const { wait } = options;
    const path = webhookPath(webhookId, 'deliveries', deliveryId) + toQuery({ wait });
    const timeoutMs = options.timeoutMs ?? timeoutOfWait(wait);
    return await this.#transport.call('GET', path, {
      ...options,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }

  /** POST /v1/webhooks/:webhookId/deliveries/:deliveryId/replay: sends an ended delivery again. */
  async replay(webhookId: string, deliveryId: string, options?: CallOptions): Promise<Replay> {
    const path = webhookPath(webhookId, 'deliveries', deliveryId, 'replay');
    return await this.#transport.call('POST', path, options);
  }

  /**
   * POST /v1/webhooks/:webhookId/replay: sends all failed deliveries again that were created at `since` (ISO 8601) or later.
   */
  async replayFailed(webhookId: string, since: string, options?: CallOptions): Promise<Replay> {
    return await this.#transport.call('POST', webhookPath(webhookId, 'replay') + toQuery({ since }), options);
  }
}
