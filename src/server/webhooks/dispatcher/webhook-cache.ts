import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Webhook, WebhookStore } from '../store.ts';

/** So much later than the change itself other instances heed it. */
const FRESH_MS = 1_000;

export type WebhookViewDeps = {
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly clock: Clock;
  readonly log: Log;
};

type View = { webhook: Webhook | undefined; seenAt: number; reading?: Promise<void> | undefined };

/**
 * What the webhooks of waiting deliveries were when they were last read. Who has waited long behind a slow receiver
 * must not go to a URL that was changed meanwhile, nor to a webhook that was deleted.
 */
export class WebhookViews {
  readonly #deps: WebhookViewDeps;
  readonly #views = new Map<string, View>();

  constructor(deps: WebhookViewDeps) {
    this.#deps = deps;
  }

  /** The webhook was read just now. */
  see(webhook: Webhook): void {
    this.#views.set(webhook.id, { webhook, seenAt: this.#deps.clock.now() });
  }

  /** It was changed: what is known of it, or being read at the moment, is out of date. */
  outdate(webhookId: string): void {
    const view = this.#views.get(webhookId);
    if (view !== undefined) this.#views.set(webhookId, { webhook: view.webhook, seenAt: -FRESH_MS });
  }

  /** No delivery of it is in hand any more. */
  forget(webhookId: string): void {
    this.#views.delete(webhookId);
  }

  /** As it is, or was at most a second ago; undefined when it was deleted. */
  async current(webhookId: string): Promise<Webhook | undefined> {
    const view = this.#views.get(webhookId);
    if (view !== undefined && this.#deps.clock.now() - view.seenAt > FRESH_MS) {
      // Once for all who ask meanwhile.
      view.reading ??= this.#read(webhookId, view);
      await view.reading;
    }
    return this.#views.get(webhookId)?.webhook;
  }

  /** A store that does not answer leaves it as it was. */
  async #read(webhookId: string, view: View): Promise<void> {
    const { webhooks, clock, log } = this.#deps;
    const startedAt = clock.now();
    try {
      view.webhook = await webhooks.find(webhookId);
      view.seenAt = startedAt;
    } catch (error) {
      log.warn({ err: error }, 'reading a webhook failed; its deliveries go by what is known of it');
    } finally {
      view.reading = undefined;
    }
  }
}
