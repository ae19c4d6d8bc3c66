import type { DELIVERY_STATES } from '../../contract/deliveries.ts';
import type { RoomPrefixes } from '../../contract/keys.ts';
import type { WebhookOrdering } from '../../contract/webhooks.ts';

/*
 * Webhooks and their deliveries. The delivery row is the job: no queue in memory has information that the row lacks.
 *
 *   pending    to be sent at dueAt. leaseOwner and leaseUntil name the instance that works on it. When the lease has
 *              run out any instance may claim the row.
 *   delivered  the receiver responded with 2xx
 *   failed     the last retry of its round failed
 *   cancelled  the webhook was deleted first
 *
 * A webhook may ask for the events of a room in order. Its deliveries then have an orderingKey, which is the session of
 * the room, and are sent one after the other by their sequence. All pending deliveries of a key but the first are `waiting`;
 * when the first one ends, the next one is no longer waiting. A claim of the first one also leases the next few. Their
 * owner sends them one after the other as long as each is delivered. If one is not (it is to be tried again, it failed, or
 * its lease was lost), the owner gives back those behind it. A delivery has no key if it was stored before its webhook asked
 * for order, or if somebody has replayed it; it waits for no other.
 *
 * A delivery that the storing instance sends at once, and that has no place in an order, has no row at first: a parcel lists
 * those of a transaction, with one lease for all. Its owner writes the rows with the outcomes of the first attempts, as long
 * as it has the parcel. At the next renewal of leases it unpacks the parcel: what has no row gets one. When the lease runs
 * out, or the owner stops, the same happens, without a lease of the owner. Readers see what has no row as pending. Whoever
 * writes rows locks the parcel first, so that each delivery gets one row.
 *
 * A round is a first attempt and its retries; a replay of an ended delivery begins a new round. Attempts are counted through
 * all rounds. Only the owner of the lease changes the state; an outcome after a lost lease is stored and counted as an
 * attempt, and changes nothing else.
 */
export interface WebhookStore {
  insert(webhook: Webhook): Promise<void>;
  /**
   * Inserts the webhook if there are fewer than `total`, and fewer than `ofKey` by its key, also when several instances
   * insert at once. Returns whether it was inserted. Must not be called in a transaction.
   */
  insertBelow(limits: WebhookLimits, webhook: Webhook): Promise<boolean>;
  /** Counts the webhooks that the key has created. */
  countOfKey(keyId: string): Promise<number>;
  /** Lists all webhooks, or a page of them, ordered by createdAt and id. */
  list(page?: WebhookPage): Promise<readonly Webhook[]>;
  /**
   * Lists all webhooks from memory, as long as no instance has changed one. In a transaction the result has every change
   * that was committed before the call, or before `version` of the registrations was read, where it is given.
   */
  listRegistrations(version?: number): Promise<readonly Webhook[]>;
  find(id: string): Promise<Webhook | undefined>;
  /** Finds the webhook and locks it until the transaction ends. */
  lock(id: string): Promise<Webhook | undefined>;
  /** Returns undefined when there is no such webhook. */
  update(id: string, change: WebhookChange): Promise<Webhook | undefined>;
  /** Replaces sealed secrets, unless one of them differs from `seen`. Returns whether they were replaced. */
  replaceSecrets(seen: Webhook, secrets: WebhookSecrets): Promise<boolean>;
  /**
   * Deletes the webhook at once, then cancels its pending deliveries in small batches. Returns whether it existed. Its
   * delivery log, which can no longer be read, is deleted by the next purges.
   */
  delete(id: string, now: number): Promise<boolean>;
}

export type Webhook = {
  readonly id: string;
  readonly url: string;
  /** Event names as registered: of either table of names, or `*`. */
  readonly events: readonly string[];
  /** Encrypted. */
  readonly secret: string;
  /** Encrypted; also signs until previousSecretUntil. */
  readonly previousSecret: string | null;
  readonly previousSecretUntil: number | null;
  readonly ordering: WebhookOrdering;
  /** Id of the key that created it. */
  readonly createdBy: string;
  /** It gets the events of rooms whose names begin with one of these, which are the prefixes of its key. Null for all events. */
  readonly rooms: readonly string[] | null;
  /** Since when nothing is sent to it; null while it is not paused. */
  readonly pausedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type WebhookLimits = { readonly total: number; readonly ofKey: number };

export type WebhookPage = {
  /** The last webhook of the previous page; undefined for the first page. */
  readonly after: Pick<Webhook, 'createdAt' | 'id'> | undefined;
  /** Undefined for all that follow. */
  readonly limit: number | undefined;
  /** Only webhooks of keys with the same rooms. */
  readonly rooms?: RoomPrefixes | undefined;
};

export type WebhookSecrets = Pick<Webhook, 'secret' | 'previousSecret' | 'previousSecretUntil'>;

export type WebhookChange = Partial<Omit<Webhook, 'id' | 'createdAt' | 'createdBy' | 'rooms'>> &
  Pick<Webhook, 'updatedAt'>;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryStore {
  /**
   * Stores deliveries in the transaction of their event. A delivery may have a lease, so that the storing instance can send
   * it at once. A delivery whose webhook is deleted at the same moment is stored, never claimed, and purged. Deliveries of
   * an orderingKey must be stored in the order of their sequence. One that waits for an earlier delivery gets no lease,
   * unless that one is stored in the same call with a lease. The result has the ids of those that got none for that reason.
   * The result is complete once the transaction has resolved. Deliveries of the parcel get no rows yet.
   */
  insert(deliveries: readonly NewDelivery[], parcel?: Parcel): Promise<ReadonlySet<string>>;
  /**
   * Leases due deliveries (pending, dueAt <= now, no lease or one that ran out: leaseUntil <= now), at most `limit` in total
   * and `limitPerWebhook` of one webhook, none of `exceptWebhooks` nor of paused webhooks. The webhook that has waited
   * longest comes first, with its oldest deliveries, so that no webhook starves behind the backlog of another. The result is
   * ordered by due time, and within a millisecond by the order of the events. Instances never get the same row and never
   * wait for each other: rows that another instance is claiming are skipped.
   *
   * For an orderingKey it leases the first pending delivery and those that follow it, at most `limitPerOrder` in total. It
   * leases no delivery without all pending ones before it.
   *
   * Some parcels whose lease has run out are unpacked first, whoever had them, so that their deliveries can be claimed.
   */
  claim(request: ClaimRequest): Promise<readonly DeliveryJob[]>;
  /**
   * Prolongs the leases of `ids` that `owner` holds, also one that ran out and was not taken over. Returns the ids of the
   * renewed leases. A lease that the owner holds without knowing it, because the response of a claim or a commit was lost,
   * runs out, and the delivery is claimed again.
   */
  renew(owner: string, ids: readonly string[], leaseUntil: number): Promise<readonly string[]>;
  /**
   * Unpacks the parcels that `owner` still has: deliveries without a row get one. Those in `kept` get a lease, and the others
   * none; without `kept` all keep the lease of the parcel. Returns the ids of the new rows that have a lease.
   */
  unpack(owner: string, parcelIds: readonly string[], kept?: Kept): Promise<readonly string[]>;
  /** Releases the leases of `ids` that `owner` holds, and makes the deliveries due at `dueAt`, without an attempt. */
  postpone(owner: string, ids: readonly string[], dueAt: number): Promise<void>;
  /**
   * Releases the leases of `ids` that `owner` holds and unpacks all its parcels, for a clean shutdown. Returns the number of
   * deliveries.
   */
  release(owner: string, ids: readonly string[]): Promise<number>;
  /**
   * Writes the attempts and moves the rows whose lease `owner` still holds, all in one transaction. Repeating the call
   * changes nothing. Purged deliveries are skipped. When the first delivery of an orderingKey ends, the next one can be
   * claimed. Where a delivery was not delivered, `owner` loses its leases of the deliveries behind it.
   *
   * A delivery of a parcel that `owner` still has gets its row here. `emptied` are parcels of which every delivery that was
   * dispatched has an outcome in this call or an earlier one.
   */
  recordOutcomes(
    owner: string,
    outcomes: readonly DeliveryOutcome[],
    emptied?: readonly string[],
  ): Promise<void>;
  /** Lists deliveries by (createdAt, id), the newest first. */
  list(query: DeliveryQuery): Promise<readonly LoggedDelivery[]>;
  find(webhookId: string, id: string): Promise<LoggedDelivery | undefined>;
  /**
   * Counts the newest deliveries of a state that were created in a period, in equal parts of it; parts without one are left
   * out.
   */
  countByPart(query: CountQuery): Promise<readonly PartCount[]>;
  /** Looks at the newest pending deliveries. */
  countPending(webhookId: string, limit: number): Promise<PendingCount>;
  /** Returns the states of the newest deliveries that were tried, the newest first. */
  listTried(webhookId: string, limit: number): Promise<readonly DeliveryState[]>;
  /**
   * Makes an ended delivery pending again, due at `now`, in a new round and without a place in an order. Returns false when
   * it has not ended or when its webhook or event does not exist any more.
   */
  replay(webhookId: string, id: string, now: number): Promise<boolean>;
  /**
   * Replays all failed deliveries created at `since` or later, in small batches, except webhook tests and those whose event
   * was purged. Returns their number.
   */
  replayFailed(webhookId: string, since: number, now: number): Promise<number>;
  /**
   * Returns the earliest instant at which a claim would find a delivery: the earliest dueAt, or end of a lease, of the
   * pending deliveries of webhooks other than `exceptWebhooks`. Undefined when there is none.
   */
  nextClaimableAt(exceptWebhooks: readonly string[]): Promise<number | undefined>;
  /** Makes pending deliveries claimable at `latest` that would become claimable later. */
  bringForward(latest: number): Promise<void>;
  /**
   * Deletes at most `limit` deliveries with their logs: ended ones created before `before`, and those of deleted
   * webhooks. Returns the number of deliveries; there may be more while it is not 0.
   */
  purge(before: number, limit: number): Promise<number>;
}

export type NewDelivery = {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  /** The event name that is sent, as the webhook registered it. */
  readonly eventName: string;
  readonly dueAt: number;
  readonly createdAt: number;
  readonly leaseOwner: string | null;
  readonly leaseUntil: number | null;
  /** The session of the room within which it has its place; null for a delivery that waits for no other. */
  readonly orderingKey: string | null;
  /** Its event's number within that session; null without an orderingKey. */
  readonly sequence: number | null;
};

/** Deliveries of one transaction without rows, and the lease of the instance that sends them. */
export type Parcel = {
  readonly id: string;
  readonly owner: string;
  readonly leaseUntil: number;
  readonly deliveries: readonly NewDelivery[];
};

/** The deliveries of a parcel that its owner keeps, and the end of their leases. */
export type Kept = { readonly ids: readonly string[]; readonly leaseUntil: number };

export type Delivery = NewDelivery & {
  readonly state: DeliveryState;
  /** 1 while the delivery waits for the end of an earlier one of its orderingKey. */
  readonly waiting: 1 | null;
  /** Number of attempts in all rounds. */
  readonly attempts: number;
  /** Number of attempts in this round, which selects the next retry delay. */
  readonly roundAttempts: number;
  /** When the delivery was delivered, failed or cancelled. */
  readonly endedAt: number | null;
};

/** A delivery with its newest 20 attempts of all rounds, in order. */
export type LoggedDelivery = Delivery & { readonly log: readonly Attempt[] };

/** A leased delivery with everything that is needed to send it. */
export type DeliveryJob = {
  readonly delivery: Delivery;
  readonly webhook: Webhook;
  /** The parcel in which it was stored; undefined for a delivery with a row. */
  readonly parcelId?: string | undefined;
  /** The event's stored payload, room session, time of occurrence and trace. */
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
  readonly limitPerOrder: number;
  readonly exceptWebhooks: readonly string[];
  /** Called with the number of claimed deliveries whose lease of another owner had run out. */
  readonly onTakeover?: ((count: number) => void) | undefined;
};

export type Attempt = {
  /** Number of the attempt in all rounds, from 1. */
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  /** Null when nobody responded. */
  readonly statusCode: number | null;
  /** Why the attempt failed: a short text without personal data. */
  readonly error: string | null;
  /** The receiver's response body, at most 4 KiB; NUL, which no text column can hold, is replaced. */
  readonly responseBody: string | null;
};

/** An attempt without its number, which recordOutcomes assigns: two instances may have sent the same delivery. */
export type NewAttempt = Omit<Attempt, 'number'> & { readonly deliveryId: string };

export type DeliveryOutcome = {
  readonly attempt: NewAttempt;
  /** The row's next state. `pending` has the next dueAt and releases the lease. */
  readonly next:
    | { readonly state: 'pending'; readonly dueAt: number }
    | { readonly state: 'delivered' | 'failed'; readonly endedAt: number };
  /** For a delivery that was stored in a parcel. */
  readonly parcelled?: { readonly parcelId: string; readonly delivery: NewDelivery } | undefined;
};

export type DeliveryQuery = {
  readonly webhookId: string;
  readonly state?: DeliveryState | undefined;
  /** Limits the list to the delivery of this event. The list is empty when the event is not stored any more. */
  readonly eventId?: string | undefined;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

export type CountQuery = {
  readonly webhookId: string;
  readonly state: DeliveryState;
  readonly since: number;
  /** Exclusive. */
  readonly until: number;
  /** Length of a part in milliseconds. */
  readonly partMs: number;
  readonly limit: number;
};

/** `part` counts from 0, which begins at `since`. */
export type PartCount = { readonly part: number; readonly count: number };

export type PendingCount = {
  /** Pending deliveries that were tried at least once. */
  readonly retrying: number;
  readonly oldestAt: number | null;
};

/** The stores that a transaction about webhooks uses. */
export interface WebhookStores {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
}
