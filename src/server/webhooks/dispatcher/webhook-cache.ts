import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Webhook, WebhookStore } from '../store.ts';

/** Other instances see a change of a webhook at most this much later. */
const MAX_AGE_MS = 1_000;

export type WebhookCacheDeps = {
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly clock: Clock;
  readonly log: Log;
};

type Entry = { webhook: Webhook | undefined; readAt: number; reading?: Promise<void> | undefined };

/**
 * The webhooks of queued deliveries. A delivery that waited long behind a slow receiver must not go to a URL that was
 * changed meanwhile, nor to a webhook that was deleted: entries are therefore read again after a second.
 */
export class WebhookCache {
  readonly #deps: WebhookCacheDeps;
  readonly #entries = new Map<string, Entry>();

  constructor(deps: WebhookCacheDeps) {
    this.#deps = deps;
  }

  /** Stores a webhook that was read just now. */
  set(webhook: Webhook): void {
    this.#entries.set(webhook.id, { webhook, readAt: this.#deps.clock.monotonic() });
  }

  /** Replaces the entry, so that a read under way cannot bring the old registration back. */
  invalidate(webhookId: string): void {
    const entry = this.#entries.get(webhookId);
    if (entry !== undefined)
      this.#entries.set(webhookId, { webhook: entry.webhook, readAt: Number.NEGATIVE_INFINITY });
  }

  delete(webhookId: string): void {
    this.#entries.delete(webhookId);
  }

  /** The webhook as it was at most a second ago; undefined when it was deleted. */
  async get(webhookId: string): Promise<Webhook | undefined> {
    const entry = this.#entries.get(webhookId);
    if (entry !== undefined && this.#deps.clock.monotonic() - entry.readAt > MAX_AGE_MS) {
      // Concurrent callers share one read.
      entry.reading ??= this.#read(webhookId, entry);
      await entry.reading;
    }
    return this.#entries.get(webhookId)?.webhook;
  }

  /** When the store does not respond the entry stays as it was. */
  async #read(webhookId: string, entry: Entry): Promise<void> {
    const { webhooks, clock, log } = this.#deps;
    const startedAt = clock.monotonic();
    try {
      entry.webhook = await webhooks.find(webhookId);
      entry.readAt = startedAt;
    } catch (error) {
      log.warn({ err: error }, 'reading a webhook failed; its deliveries use the last known registration');
    } finally {
      entry.reading = undefined;
    }
  }
}
