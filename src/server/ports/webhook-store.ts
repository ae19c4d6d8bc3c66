/*
 * Webhooks and their deliveries. The delivery row is the job: no queue holds anything that the row does not.
 *
 *   pending    to be tried at dueAt; while an instance has it in hand, leaseOwner and leaseUntil say so. A lease
 *              that ran out is nobody's: whoever claims the row next takes over.
 *   delivered  a receiver answered 2xx
 *   failed     the last retry of its round failed
 *   cancelled  the webhook was deleted first
 *
 * A round is a first try and its retries; a replay of an ended delivery begins a new round. Attempts are counted
 * through all rounds. Only the owner of the lease settles; the settlement of a lost lease writes the attempt and
 * changes nothing else.
 */
export interface WebhookStore {
  insert(webhook: Webhook): Promise<void>;
  /** By createdAt and id. */
  list(): Promise<readonly Webhook[]>;
  find(id: string): Promise<Webhook | undefined>;
  /** Undefined when there is no such webhook. */
  update(id: string, change: WebhookChange): Promise<Webhook | undefined>;
  /** Cancels its pending deliveries, then deletes it with its log; whether it was there. */
  delete(id: string): Promise<boolean>;
}

export type Webhook = {
  readonly id: string;
  readonly url: string;
  /** As registered: names of either table, or `*`. */
  readonly events: readonly string[];
  /** Encrypted. */
  readonly secret: string;
  /** Encrypted; goes on signing until previousSecretUntil. */
  readonly previousSecret: string | null;
  readonly previousSecretUntil: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type WebhookChange = Partial<Omit<Webhook, 'id' | 'createdAt'>> & Pick<Webhook, 'updatedAt'>;

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryStore {
  /** In the event's own transaction. Each may come with a lease: who stores it may try it at once. */
  insert(deliveries: readonly NewDelivery[]): Promise<void>;
  /**
   * Leases due deliveries (pending, dueAt <= now, no lease or one that ran out), oldest due first, at most `limit`
   * of all and `limitPerWebhook` of one, none of `exceptWebhooks`. Instances never get the same row, and never
   * wait for each other.
   */
  claim(request: ClaimRequest): Promise<readonly DeliveryJob[]>;
  /** Prolongs every lease that `owner` holds; how many. */
  renew(owner: string, leaseUntil: number): Promise<number>;
  /** Gives back every lease of `owner` at once, for a clean shutdown; how many. */
  release(owner: string): Promise<number>;
  /** Writes the attempts and moves the rows whose lease `owner` still holds, all in one transaction. */
  settle(owner: string, outcomes: readonly DeliveryOutcome[]): Promise<void>;
  /** Newest first, by (createdAt, id). */
  list(query: DeliveryQuery): Promise<readonly Delivery[]>;
  find(webhookId: string, id: string): Promise<Delivery | undefined>;
  /** Oldest first, for several deliveries at once. */
  listAttempts(deliveryIds: readonly string[]): Promise<readonly Attempt[]>;
  /** An ended delivery -> pending, due at `now`, in a new round; whether it was ended and its webhook is still there. */
  replay(webhookId: string, id: string, now: number): Promise<boolean>;
  /** All failed ones created at `since` or later; how many. */
  replayFailed(webhookId: string, since: number, now: number): Promise<number>;
  /** The earliest dueAt of a pending delivery without a lease; undefined when there is none. */
  nextDueAt(): Promise<number | undefined>;
  /** Deletes ended deliveries created before `before` with their attempts; how many deliveries. */
  purge(before: number, limit: number): Promise<number>;
}

export type NewDelivery = {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  /** The name under which it is sent: the one that the webhook registered. */
  readonly eventName: string;
  readonly dueAt: number;
  readonly createdAt: number;
  readonly leaseOwner: string | null;
  readonly leaseUntil: number | null;
};

export type Delivery = NewDelivery & {
  readonly state: DeliveryState;
  /** Through all rounds. */
  readonly attempts: number;
  /** In this round: the retry schedule's place. */
  readonly roundAttempts: number;
  /** When it was delivered, failed or cancelled. */
  readonly endedAt: number | null;
};

/** A leased delivery with all that sending it takes. */
export type DeliveryJob = {
  readonly delivery: Delivery;
  readonly webhook: Webhook;
  /** The event's stored payload and when it happened. */
  readonly event: { readonly id: string; readonly payload: string; readonly occurredAt: number };
};

export type ClaimRequest = {
  readonly owner: string;
  readonly now: number;
  readonly leaseUntil: number;
  readonly limit: number;
  readonly limitPerWebhook: number;
  readonly exceptWebhooks: readonly string[];
};

export type Attempt = {
  readonly deliveryId: string;
  /** From 1, through all rounds. */
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  /** Null when nobody answered. */
  readonly statusCode: number | null;
  /** Why it counts as failed: a short text, without personal data. */
  readonly error: string | null;
  /** What the receiver answered, at most 4 KiB. */
  readonly responseBody: string | null;
};

export type DeliveryOutcome = {
  readonly attempt: Attempt;
  /** What the row becomes; `pending` comes with the next dueAt and gives the lease back. */
  readonly next:
    | { readonly state: 'pending'; readonly dueAt: number }
    | { readonly state: 'delivered' | 'failed'; readonly endedAt: number };
};

export type DeliveryQuery = {
  readonly webhookId: string;
  readonly state?: DeliveryState | undefined;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

/** Named leases for work that one instance at a time does, such as the reconciler. */
export interface LeaseStore {
  /** True when `owner` now holds the lease: it was free, had run out, or was its own. */
  acquire(name: string, owner: string, now: number, leaseUntil: number): Promise<boolean>;
  release(name: string, owner: string): Promise<void>;
}
