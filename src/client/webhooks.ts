import type {
  Webhook,
  WebhookCreate,
  WebhookList,
  WebhookPatch,
  WebhookPut,
  WebhookTest,
} from '../contract/webhooks.ts';
import type { CallOptions } from './client-options.ts';
import { itemsOfPages } from './pages.ts';
import { webhookPath, withBody } from './request-parts.ts';
import type { Transport } from './transport.ts';

/** Registered webhooks: `client.webhooks`. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** POST /v1/webhooks; only this response ever holds the secret. */
  async create(webhook: WebhookCreate, options?: CallOptions): Promise<Webhook> {
    return await this.#transport.call('POST', '/v1/webhooks', withBody(webhook, options));
  }

  /** GET /v1/webhooks: all of them, secrets masked. */
  async list(options?: CallOptions): Promise<WebhookList> {
    return await this.#transport.call('GET', '/v1/webhooks', options);
  }

  /** Each webhook, its secret masked. */
  all(options?: CallOptions): AsyncGenerator<Webhook, void, undefined> {
    return itemsOfPages('/v1/webhooks', undefined, async () => {
      const { webhooks } = await this.list(options);
      return { items: webhooks, nextCursor: undefined };
    });
  }

  /** GET /v1/webhooks/:webhookId. */
  async get(id: string, options?: CallOptions): Promise<Webhook> {
    return await this.#transport.call('GET', webhookPath(id), options);
  }

  /** PATCH /v1/webhooks/:webhookId: URL and events. */
  async update(id: string, change: WebhookPatch, options?: CallOptions): Promise<Webhook> {
    return await this.#transport.call('PATCH', webhookPath(id), withBody(change, options));
  }

  /** PUT /v1/webhooks/:webhookId: also the secret; the old one goes on signing beside it for 24 h. */
  async put(id: string, change: WebhookPut, options?: CallOptions): Promise<Webhook> {
    return await this.#transport.call('PUT', webhookPath(id), withBody(change, options));
  }

  /** DELETE /v1/webhooks/:webhookId: with its log; pending deliveries are cancelled. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', webhookPath(id), options);
  }

  /** POST /v1/webhooks/:webhookId/test: sends one event and reports the outcome; it may take 10 s. */
  async test(id: string, options?: CallOptions): Promise<WebhookTest> {
    return await this.#transport.call('POST', webhookPath(id, 'test'), options);
  }
}
