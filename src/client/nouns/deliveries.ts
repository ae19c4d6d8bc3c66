import type {
  Delivery,
  DeliveryList,
  DeliveryListQuery,
  DeliveryQuery,
  Replay,
} from '../../contract/deliveries.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { timeoutOfWait, toQuery, webhookPath } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages, LARGEST_PAGE } from './pages.ts';

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
