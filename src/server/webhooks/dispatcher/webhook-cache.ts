import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Webhook, WebhookStore } from '../store.ts';

/** Maximum time until this instance sees a change of a webhook that another instance made. */
const MAX_AGE_MS = 1_000;

export type WebhookCacheDeps = {
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly clock: Clock;
  readonly log: Log;
};

type Entry = { webhook: Webhook | undefined; readAt: number; reading?: Promise<void> | undefined };

/**
 * The webhooks of queued deliveries. A delivery may wait long behind a slow receiver, and must not be sent to a URL that was
 * changed or to a webhook that was deleted in the meantime. Entries are therefore read again after a second.
 */
export class WebhookCache {
  readonly #deps: WebhookCacheDeps;
  readonly #entries = new Map<string, Entry>();

  constructor(deps: WebhookCacheDeps) {
    this.#deps = deps;
  }

  /** Adds a webhook that was just read. */
  set(webhook: Webhook): void {
    this.#entries.set(webhook.id, { webhook, readAt: this.#deps.clock.monotonic() });
  }

  /** Replaces the entry, so that a running read cannot restore the old registration. */
  invalidate(webhookId: string): void {
    const entry = this.#entries.get(webhookId);
    if (entry !== undefined)
      this.#entries.set(webhookId, { webhook: entry.webhook, readAt: Number.NEGATIVE_INFINITY });
  }

  delete(webhookId: string): void {
    this.#entries.delete(webhookId);
  }

  /** Returns the webhook as it was at most a second ago; undefined when it was deleted. */
  async get(webhookId: string): Promise<Webhook | undefined> {
    const entry = this.#entries.get(webhookId);
    if (entry !== undefined && this.#deps.clock.monotonic() - entry.readAt > MAX_AGE_MS) {
      // Concurrent callers share one read.
      entry.reading ??= this.#read(webhookId, entry);
      await entry.reading;
    }
    return this.#entries.get(webhookId)?.webhook;
  }

  /** Keeps the entry as it is when the store does not respond. */
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
