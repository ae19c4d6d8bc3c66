import type {
  DeliveryList,
  Replay,
  Webhook,
  WebhookCreate,
  WebhookList,
  WebhookPatch,
  WebhookPut,
  WebhookTest,
} from '../contract/webhooks.ts';
import type { ListDeliveriesOptions } from './call-options.ts';
import type { CallOptions } from './client-options.ts';
import { queryOf, webhookPath, withBody } from './request-parts.ts';
import { TranscriptionCalls } from './transcription-calls.ts';

/** The part of RtcClient that is about webhooks and their deliveries. */
export abstract class WebhookCalls extends TranscriptionCalls {
  /** GET /v1/webhooks: all of them, secrets masked. */
  async listWebhooks(options?: CallOptions): Promise<WebhookList> {
    return this.call('GET', '/v1/webhooks', options);
  }

  /** POST /v1/webhooks; only this answer ever holds the secret. */
  async createWebhook(webhook: WebhookCreate, options?: CallOptions): Promise<Webhook> {
    return this.call('POST', '/v1/webhooks', withBody(webhook, options));
  }

  /** GET /v1/webhooks/:webhookId. */
  async getWebhook(id: string, options?: CallOptions): Promise<Webhook> {
    return this.call('GET', webhookPath(id), options);
  }

  /** PATCH /v1/webhooks/:webhookId: URL and events. */
  async updateWebhook(id: string, change: WebhookPatch, options?: CallOptions): Promise<Webhook> {
    return this.call('PATCH', webhookPath(id), withBody(change, options));
  }

  /** PUT /v1/webhooks/:webhookId: also the secret; the old one goes on signing beside it for 24 h. */
  async putWebhook(id: string, change: WebhookPut, options?: CallOptions): Promise<Webhook> {
    return this.call('PUT', webhookPath(id), withBody(change, options));
  }

  /** DELETE /v1/webhooks/:webhookId: with its log; pending deliveries are cancelled. */
  async deleteWebhook(id: string, options?: CallOptions): Promise<void> {
    await this.send('DELETE', webhookPath(id), options);
  }

  /** POST /v1/webhooks/:webhookId/test: one try, which may take 10 s. */
  async testWebhook(id: string, options?: CallOptions): Promise<WebhookTest> {
    return this.call('POST', webhookPath(id, 'test'), options);
  }

  /** GET /v1/webhooks/:webhookId/deliveries, newest first, with every attempt. */
  async listDeliveries(id: string, options: ListDeliveriesOptions = {}): Promise<DeliveryList> {
    const { status, limit, cursor } = options;
    return this.call('GET', webhookPath(id, 'deliveries') + queryOf({ status, limit, cursor }), options);
  }

  /** POST /v1/webhooks/:webhookId/deliveries/:deliveryId/replay, of an ended delivery. */
  async replayDelivery(id: string, deliveryId: string, options?: CallOptions): Promise<Replay> {
    return this.call('POST', webhookPath(id, 'deliveries', deliveryId, 'replay'), options);
  }

  /** POST /v1/webhooks/:webhookId/replay: all that failed and were created at `since` (ISO 8601) or later. */
  async replayFailedDeliveries(id: string, since: string, options?: CallOptions): Promise<Replay> {
    return this.call('POST', webhookPath(id, 'replay') + queryOf({ since }), options);
  }
}
