import type { ClaimRequest, DeliveryJob } from '../store.ts';

/** At most so many requests to one receiver at once: a slow one never holds up the others. */
export const CONCURRENCY_PER_WEBHOOK = 16;
/** Waiting and under way. What was sent and is not stored yet comes on top: the next are there while it is stored. */
const IN_HAND_PER_WEBHOOK = 512;
/** Of all receivers together; past it each still gets a share, so that slow ones do not fill the hand for all. */
const IN_HAND_TOTAL = 4096;
const SHARE_PER_WEBHOOK = CONCURRENCY_PER_WEBHOOK;
/** A claim is worth its round trip from so many free places on. */
const CLAIM_PER_WEBHOOK = 256;
const CLAIM_LIMIT = 500;
const HALF_EMPTY = IN_HAND_PER_WEBHOOK - CLAIM_PER_WEBHOOK;

/** What there is room for. */
export type ClaimRoom = Pick<ClaimRequest, 'limit' | 'limitPerWebhook' | 'exceptWebhooks'>;

type Lane = { readonly waiting: DeliveryJob[]; running: number; unsettled: number };

const toSend = (lane: Lane | undefined): number =>
  lane === undefined ? 0 : lane.waiting.length + lane.running;

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

  roomFor(webhookId: string): number {
    const inLane = toSend(this.#lanes.get(webhookId));
    const room = Math.max(IN_HAND_TOTAL - this.size, SHARE_PER_WEBHOOK - inLane);
    return Math.max(0, Math.min(IN_HAND_PER_WEBHOOK - inLane, room));
  }

  /** For the next claim. When the hand is full, only webhooks with next to nothing in it are looked at. */
  get roomForClaim(): ClaimRoom {
    const room = IN_HAND_TOTAL - this.size;
    if (room >= CLAIM_PER_WEBHOOK) {
      const exceptWebhooks = this.#lanesFrom(HALF_EMPTY + 1);
      return { limit: Math.min(CLAIM_LIMIT, room), limitPerWebhook: CLAIM_PER_WEBHOOK, exceptWebhooks };
    }
    const exceptWebhooks = this.#lanesFrom(SHARE_PER_WEBHOOK);
    return { limit: CLAIM_LIMIT, limitPerWebhook: SHARE_PER_WEBHOOK, exceptWebhooks };
  }

  /** Whether one of these could be claimed of by now. */
  hasRoomIn(webhookIds: readonly string[]): boolean {
    if (webhookIds.length === 0) return false;
    const full = new Set(this.roomForClaim.exceptWebhooks);
    return webhookIds.some((id) => !full.has(id));
  }

  #lanesFrom(size: number): readonly string[] {
    return [...this.#lanes].filter(([, lane]) => toSend(lane) >= size).map(([id]) => id);
  }

  add(job: DeliveryJob): void {
    const lane = this.#laneOf(job.webhook.id);
    lane.waiting.push(job);
    lane.unsettled += 1;
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

  /** Those of which more could start. */
  waitingWebhooks(): readonly string[] {
    const lanes = [...this.#lanes].filter(
      ([, lane]) => lane.waiting.length > 0 && lane.running < CONCURRENCY_PER_WEBHOOK,
    );
    return lanes.map(([id]) => id);
  }

  /** The request is over; the job stays in hand until it is settled. Whether it is now that a claim is worth while. */
  finish(webhookId: string): boolean {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return false;
    lane.running -= 1;
    return toSend(lane) === HALF_EMPTY;
  }

  /** It is out of hand; how many of its webhook are left. */
  settle(webhookId: string, deliveryId: string): number {
    const lane = this.#laneOf(webhookId);
    lane.unsettled -= 1;
    this.#ids.delete(deliveryId);
    if (lane.unsettled === 0) this.#lanes.delete(webhookId);
    return lane.unsettled;
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
    const lane: Lane = { waiting: [], running: 0, unsettled: 0 };
    this.#lanes.set(webhookId, lane);
    return lane;
  }
}
