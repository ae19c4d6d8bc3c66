import type { DeliveryJob } from '../ports/webhook-store.ts';

/** At most so many requests to one receiver at once: a slow one never holds up the others. */
export const CONCURRENCY_PER_WEBHOOK = 16;
/** Waiting and under way: what one receiver may take of this instance's memory. */
export const IN_HAND_PER_WEBHOOK = 256;
/** Of all receivers together. */
export const IN_HAND_TOTAL = 4096;

type Lane = { readonly waiting: DeliveryJob[]; running: number; size: number };

/** The deliveries that this instance has leased: a lane per webhook, first in, first out. */
export class Hand {
  readonly #lanes = new Map<string, Lane>();
  readonly #ids = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }

  /** Of the deliveries in it. */
  get ids(): readonly string[] {
    return [...this.#ids];
  }

  has(deliveryId: string): boolean {
    return this.#ids.has(deliveryId);
  }

  get room(): number {
    return Math.max(0, IN_HAND_TOTAL - this.size);
  }

  roomFor(webhookId: string): number {
    const own = IN_HAND_PER_WEBHOOK - (this.#lanes.get(webhookId)?.size ?? 0);
    return Math.max(0, Math.min(own, this.room));
  }

  /** Webhooks whose lane is too full for another claim of `batch`. */
  fullWebhooks(batch: number): readonly string[] {
    return [...this.#lanes].filter(([, lane]) => IN_HAND_PER_WEBHOOK - lane.size < batch).map(([id]) => id);
  }

  add(job: DeliveryJob): void {
    const lane = this.#laneOf(job.webhook.id);
    lane.waiting.push(job);
    lane.size += 1;
    this.#ids.add(job.delivery.id);
  }

  /** The next job of the webhook that may start now. */
  start(webhookId: string): DeliveryJob | undefined {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined || lane.running >= CONCURRENCY_PER_WEBHOOK) return undefined;
    const job = lane.waiting.shift();
    if (job !== undefined) lane.running += 1;
    return job;
  }

  /** The request is over; the job stays in hand until it is settled. */
  finish(webhookId: string): void {
    const lane = this.#lanes.get(webhookId);
    if (lane !== undefined) lane.running -= 1;
  }

  /** It is out of hand; how many of its webhook are left. */
  settle(webhookId: string, deliveryId: string): number {
    const lane = this.#laneOf(webhookId);
    lane.size -= 1;
    this.#ids.delete(deliveryId);
    if (lane.size === 0) this.#lanes.delete(webhookId);
    return lane.size;
  }

  /** Drops what has not started; for closing. */
  dropWaiting(): void {
    for (const [webhookId, lane] of this.#lanes) {
      for (const job of lane.waiting.splice(0)) this.settle(webhookId, job.delivery.id);
    }
  }

  #laneOf(webhookId: string): Lane {
    const known = this.#lanes.get(webhookId);
    if (known !== undefined) return known;
    const lane: Lane = { waiting: [], running: 0, size: 0 };
    this.#lanes.set(webhookId, lane);
    return lane;
  }
}
