import type { DELIVERY_STATES } from '../../contract/deliveries.ts';
/*
 * Webhooks and their deliveries. The delivery row is the job: no queue knows anything that the row does not.
 *
 *   pending    to be tried at dueAt. While an instance works on it, leaseOwner and leaseUntil say so. After the end
 *              of its lease any instance may claim the row.
 *   delivered  a receiver answered 2xx
 *   failed     the last retry of its round failed
 *   cancelled  the webhook was deleted first
 *
 * A round is a first try and its retries; a replay of an ended delivery begins a new round. Attempts are counted
 * through all rounds. Only the owner of the lease changes the state; an outcome after a lost lease is stored and
 * counted as an attempt, and changes nothing else.
 */
export interface WebhookStore {
  insert(webhook: Webhook): Promise<void>;
  /**
   * Inserts it if fewer than `limit` are there, also when several instances insert at once. Resolves to whether it did.
   * Call it outside a transaction.
   */
  insertBelow(limit: number, webhook: Webhook): Promise<boolean>;
  /** All of them, or a page, by createdAt and id. */
  list(page?: WebhookPage): Promise<readonly Webhook[]>;
  /**
   * All of them from memory, as long as no instance has changed a webhook. Within a transaction it has every change that
   * was committed before the call.
   */
  listRegistrations(): Promise<readonly Webhook[]>;
  find(id: string): Promise<Webhook | undefined>;
  /** The same within a transaction, to whose end nobody else changes it. */
  lock(id: string): Promise<Webhook | undefined>;
  /** Undefined when there is no such webhook. */
  update(id: string, change: WebhookChange): Promise<Webhook | undefined>;
  /** Replaces sealed secrets, unless one of them is no longer what was `seen`: whether it did. */
  replaceSecrets(seen: Webhook, secrets: WebhookSecrets): Promise<boolean>;
  /**
   * Deletes it at once, then cancels its pending deliveries in small batches; whether it was there. Its log, which
   * nobody can ask for any more, goes with the next purges.
   */
  delete(id: string, now: number): Promise<boolean>;
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

export type WebhookPage = {
  /** The position behind which the page begins; without one, the first page. */
  readonly after: Pick<Webhook, 'createdAt' | 'id'> | undefined;
  /** Without one, all that follow. */
  readonly limit: number | undefined;
};

export type WebhookSecrets = Pick<Webhook, 'secret' | 'previousSecret' | 'previousSecretUntil'>;

export type WebhookChange = Partial<Omit<Webhook, 'id' | 'createdAt'>> & Pick<Webhook, 'updatedAt'>;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryStore {
  /**
   * In the event's own transaction. Each may come with a lease: who stores it may try it at once. One whose webhook
   * is deleted at the same moment is stored, never claimed and purged.
   */
  insert(deliveries: readonly NewDelivery[]): Promise<void>;
  /**
   * Leases due deliveries (pending, dueAt <= now, no lease or one that ran out: leaseUntil <= now), at most `limit`
   * of all and `limitPerWebhook` of one, none of `exceptWebhooks`. The webhook that has waited longest comes first,
   * with those of its own that have waited longest, so that none starves behind another's backlog. Answered by when
   * they were due, and within a millisecond in the order of their events. Instances never get the same row, and never
   * wait for each other: what others are claiming at the moment is passed over.
   */
  claim(request: ClaimRequest): Promise<readonly DeliveryJob[]>;
  /**
   * Prolongs the leases of `ids` that `owner` holds, also one that ran out and that nobody took over; which ones. What
   * it holds without knowing (the answer to a claim or a commit was lost) runs out, and is claimed again.
   */
  renew(owner: string, ids: readonly string[], leaseUntil: number): Promise<readonly string[]>;
  /** Gives back every lease of `owner` at once, for a clean shutdown; how many. */
  release(owner: string): Promise<number>;
  /**
   * Writes the attempts and moves the rows whose lease `owner` still holds, all in one transaction. Repeating it, for
   * want of an answer, changes nothing. What has been purged is passed over.
   */
  recordOutcomes(owner: string, outcomes: readonly DeliveryOutcome[]): Promise<void>;
  /** Newest first, by (createdAt, id). */
  list(query: DeliveryQuery): Promise<readonly Delivery[]>;
  find(webhookId: string, id: string): Promise<Delivery | undefined>;
  /** In their order, for several deliveries at once. */
  listAttempts(deliveryIds: readonly string[]): Promise<readonly Attempt[]>;
  /**
   * An ended delivery -> pending, due at `now`, in a new round; whether it was ended, and its webhook and its event
   * are still there.
   */
  replay(webhookId: string, id: string, now: number): Promise<boolean>;
  /**
   * All failed ones created at `since` or later whose event is still there, but for tests, in small batches; how many.
   */
  replayFailed(webhookId: string, since: number, now: number): Promise<number>;
  /**
   * From when on a claim would find something: the earliest dueAt, or end of a lease, of a pending delivery of other
   * webhooks than `exceptWebhooks`; undefined when there is none.
   */
  nextClaimableAt(exceptWebhooks: readonly string[]): Promise<number | undefined>;
  /** Pending deliveries that would be claimable later than at `latest` become so then. */
  bringForward(latest: number): Promise<void>;
  /**
   * Deletes at most `limit` ended deliveries created before `before`, and all that deleted webhooks left, with their
   * attempts; how many deliveries. There may be more while it is not 0.
   */
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
  /** The event's stored payload, the session of its room, when it happened, and its trace. */
  readonly event: {
    readonly id: string;
    readonly roomSid: string | null;
    readonly payload: string;
    readonly occurredAt: number;
    readonly traceparent: string | null;
  };
};

export type ClaimRequest = {
  readonly owner: string;
  readonly now: number;
  readonly leaseUntil: number;
  readonly limit: number;
  readonly limitPerWebhook: number;
  readonly exceptWebhooks: readonly string[];
  /** Called with how many of the claimed had a lease of another owner, which ran out. */
  readonly onTakeover?: ((count: number) => void) | undefined;
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
  /** The receiver's response body, at most 4 KiB; NUL, which no text column can hold, is replaced. */
  readonly responseBody: string | null;
};

/** Its number is given when it is settled: two instances may have tried the same one. */
export type NewAttempt = Omit<Attempt, 'number'>;

export type DeliveryOutcome = {
  readonly attempt: NewAttempt;
  /** The row's next state; `pending` has the next dueAt and gives the lease back. */
  readonly next:
    | { readonly state: 'pending'; readonly dueAt: number }
    | { readonly state: 'delivered' | 'failed'; readonly endedAt: number };
};

export type DeliveryQuery = {
  readonly webhookId: string;
  readonly state?: DeliveryState | undefined;
  /** Only the delivery of this event; none when the event is not stored any more. */
  readonly eventId?: string | undefined;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

/** The stores that a transaction about webhooks works on. */
export interface WebhookStores {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
}
