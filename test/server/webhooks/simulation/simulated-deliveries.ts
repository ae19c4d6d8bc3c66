import { ServiceError } from '../../../../src/contract/errors.ts';
import type { NewEvent } from '../../../../src/server/events/store.ts';
import type {
  ClaimRequest,
  Delivery,
  DeliveryJob,
  DeliveryOutcome,
  DeliveryStore,
  Webhook,
} from '../../../../src/server/webhooks/store.ts';
import type { Schedule } from '../../../support/simulation/schedule.ts';

/** The deliveries of all instances. Each statement is atomic, as in the real databases, and holds its locks no longer. */
export class SimulatedDeliveries {
  readonly rows = new Map<string, Delivery>();
  readonly events = new Map<string, NewEvent>();
  /** How often an instance got the lease of a delivery, by `instance delivery`. */
  readonly grants = new Map<string, number>();
  /** The start and duration of each logged attempt. */
  readonly attempts = new Map<string, string[]>();
  /** If true, no requests to the database and no responses get lost. */
  isPeaceful = false;
  takenOver = 0;
  /** Deliveries whose end was stored again, as another end or as none. */
  readonly endedTwice: string[] = [];
  readonly #schedule: Schedule;
  readonly #webhooks: ReadonlyMap<string, Webhook>;
  readonly #listeners = new Map<string, (origin: 'here' | 'elsewhere') => void>();

  constructor(schedule: Schedule, webhooks: readonly Webhook[]) {
    this.#schedule = schedule;
    this.#webhooks = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
  }

  get pending(): readonly Delivery[] {
    return [...this.rows.values()].filter(({ state }) => state === 'pending');
  }

  createStore(actor: string): DeliveryStore {
    const statement = <T>(run: () => T): Promise<T> => this.#statement(actor, run);
    const notSimulated = () => Promise.reject(new Error('not simulated'));
    return {
      claim: (request) => statement(() => this.#claim(request)),
      renew: (owner, ids, leaseUntil) =>
        statement(() => ids.filter((id) => this.#held(owner, id) && this.#change(id, { leaseUntil }))),
      release: (owner) => statement(() => this.#release(owner)),
      recordOutcomes: (owner, outcomes) => statement(() => this.#record(owner, outcomes)),
      nextClaimableAt: (except) =>
        statement(() => {
          const times = this.#claimable(except).map(claimableAt);
          return times.length === 0 ? undefined : Math.min(...times);
        }),
      postpone: notSimulated,
      bringForward: () => statement(() => undefined),
      insert: notSimulated,
      list: notSimulated,
      find: notSimulated,
      countByPart: notSimulated,
      countPending: notSimulated,
      listTried: notSimulated,
      replay: notSimulated,
      replayFailed: notSimulated,
      purge: notSimulated,
    };
  }

  /**
   * The transaction that stores an event with its deliveries. Returns the deliveries that wait. It locks the room until its
   * end, so that sequence numbers have the order of the commits.
   */
  insert(actor: string, event: NewEvent, jobs: readonly DeliveryJob[]): Promise<ReadonlySet<string>> {
    return this.#statement(actor, () => {
      this.events.set(event.id, event);
      const waitingIds = new Set<string>();
      for (const { delivery } of jobs) {
        const stored = this.#inItsPlace(delivery);
        this.rows.set(stored.id, stored);
        if (stored.leaseOwner !== null) this.#grant(stored.leaseOwner, stored.id);
        else if (stored.waiting !== null) waitingIds.add(stored.id);
      }
      this.notify(actor);
      return waitingIds;
    });
  }

  /** Does the same as insertDeliveries in delivery-rows.sql.ts for one event. */
  #inItsPlace(delivery: Delivery): Delivery {
    if (delivery.orderingKey === null) return delivery;
    const placed = { ...delivery, sequence: this.events.size };
    if (this.#pendingOf(delivery).length === 0) return { ...placed, waiting: null };
    return { ...placed, waiting: 1, leaseOwner: null, leaseUntil: null };
  }

  /** Returns the pending deliveries of the same order, by sequence number. */
  #pendingOf({ webhookId, orderingKey }: Delivery): readonly Delivery[] {
    return this.pending
      .filter((one) => one.webhookId === webhookId && one.orderingKey === orderingKey)
      .toSorted((one, other) => (one.sequence ?? 0) - (other.sequence ?? 0));
  }

  #claimable(exceptWebhooks: readonly string[]): readonly Delivery[] {
    return this.pending.filter(
      ({ webhookId, waiting }) => waiting === null && !exceptWebhooks.includes(webhookId),
    );
  }

  subscribe(actor: string, listener: (origin: 'here' | 'elsewhere') => void): () => void {
    this.#listeners.set(actor, listener);
    return () => this.#listeners.delete(actor);
  }

  /** A notification of another process may get lost, like a NOTIFY while the connection is down. */
  notify(from: string): void {
    this.#listeners.get(from)?.('here');
    for (const [actor, listener] of this.#listeners) {
      if (actor === from) continue;
      if (!this.isPeaceful && this.#schedule.oneIn(20)) continue;
      void this.#schedule.turn(actor, 'notification').then(() => listener('elsewhere'));
    }
  }

  /** A statement takes two turns, so that its response can get lost. */
  async #statement<T>(actor: string, run: () => T): Promise<T> {
    await this.#schedule.turn(actor);
    this.#failSometimes();
    const result = run();
    this.#schedule.observe(actor, result);
    await this.#schedule.response(actor);
    this.#failSometimes();
    return result;
  }

  #failSometimes(): void {
    if (this.isPeaceful || !this.#schedule.oneIn(12)) return;
    throw new ServiceError('storage-unavailable', 'lost', { retryable: true });
  }

  #claim(request: ClaimRequest) {
    const { now, owner, leaseUntil, limit, limitPerWebhook, exceptWebhooks } = request;
    const due = this.#claimable(exceptWebhooks)
      .filter((row) => claimableAt(row) <= now)
      .toSorted((one, other) => claimableAt(one) - claimableAt(other));
    const first = [...Map.groupBy(due, ({ webhookId }) => webhookId).values()]
      .flatMap((rows) => rows.slice(0, limitPerWebhook))
      .slice(0, limit);
    const dueAtOf = new Map(first.map((row) => [readOrder(row), row.dueAt]));
    const claimed = [...first, ...first.flatMap((row) => this.#following(row, request))];
    const positions = [...this.events.keys()];
    const dueTime = (row: Delivery): number => dueAtOf.get(readOrder(row)) ?? row.dueAt;
    return claimed
      .map(({ id, leaseOwner }) => {
        if (leaseOwner !== null && leaseOwner !== owner) this.takenOver += 1;
        this.#grant(owner, id);
        return this.#jobOf(this.#change(id, { leaseOwner: owner, leaseUntil }));
      })
      .toSorted(
        (one, other) =>
          dueTime(one.delivery) - dueTime(other.delivery) ||
          positions.indexOf(one.event.id) - positions.indexOf(other.event.id),
      );
  }

  /** Does the same as claimFollowing in claim-deliveries.sql.ts. */
  #following(first: Delivery, { now, owner, limitPerOrder }: ClaimRequest): readonly Delivery[] {
    if (first.orderingKey === null) return [];
    const behind = this.#pendingOf(first)
      .filter(({ waiting }) => waiting !== null)
      .slice(0, limitPerOrder - 1);
    const isFree = ({ dueAt, leaseOwner, leaseUntil }: Delivery): boolean =>
      dueAt <= now && (leaseUntil === null || leaseUntil <= now || leaseOwner === owner);
    const stop = behind.findIndex((row) => !isFree(row));
    return stop === -1 ? behind : behind.slice(0, stop);
  }

  #jobOf(delivery: Delivery): DeliveryJob {
    const webhook = this.#webhooks.get(delivery.webhookId);
    const event = this.events.get(delivery.eventId);
    if (webhook === undefined || event === undefined) throw new Error('a delivery of nothing');
    return { delivery, webhook, event };
  }

  #release(owner: string): number {
    const held = this.pending.filter(({ leaseOwner }) => leaseOwner === owner);
    for (const { id } of held) this.#change(id, { leaseOwner: null, leaseUntil: null });
    this.notify(owner);
    return held.length;
  }

  /** Does the same as record-outcomes.sql.ts. */
  #record(owner: string, outcomes: readonly DeliveryOutcome[]): void {
    const ended: Delivery[] = [];
    for (const { attempt, next } of outcomes) {
      const row = this.rows.get(attempt.deliveryId);
      if (row === undefined) continue;
      if (next.state !== 'delivered') this.#giveBackBehind(owner, row);
      const key = `${attempt.startedAt} ${attempt.durationMs}`;
      const logged = this.attempts.get(row.id) ?? [];
      if (logged.includes(key)) {
        if (row.leaseOwner === owner) this.#change(row.id, { leaseOwner: null, leaseUntil: null });
        continue;
      }
      this.attempts.set(row.id, [...logged, key]);
      const counted = { attempts: row.attempts + 1 };
      if (row.leaseOwner !== owner) this.#change(row.id, counted);
      else {
        if (row.state !== 'pending') this.endedTwice.push(row.id);
        const given = { roundAttempts: row.roundAttempts + 1, leaseOwner: null, leaseUntil: null };
        const changed = this.#change(row.id, { ...counted, ...given, ...next });
        if (changed.state !== 'pending') ended.push(changed);
      }
    }
    for (const row of ended) this.#advance(row);
  }

  #giveBackBehind(owner: string, row: Delivery): void {
    if (row.orderingKey === null) return;
    const behind = this.#pendingOf(row).filter(
      ({ waiting, leaseOwner }) => waiting !== null && leaseOwner === owner,
    );
    for (const { id } of behind) this.#change(id, { leaseOwner: null, leaseUntil: null });
  }

  #advance(row: Delivery): void {
    if (row.orderingKey === null) return;
    const [first] = this.#pendingOf(row);
    if (first !== undefined) this.#change(first.id, { waiting: null });
  }

  #held(owner: string, id: string): boolean {
    return this.rows.get(id)?.leaseOwner === owner;
  }

  #grant(owner: string, id: string): void {
    const key = `${owner} ${id}`;
    this.grants.set(key, (this.grants.get(key) ?? 0) + 1);
  }

  #change(id: string, change: Partial<Delivery>): Delivery {
    const row = this.rows.get(id);
    if (row === undefined) throw new Error('no such delivery');
    const changed = { ...row, ...change };
    this.rows.set(id, changed);
    return changed;
  }
}

/** A delivery without an order has one of its own. */
function readOrder({ id, webhookId, orderingKey }: Delivery): string {
  return orderingKey === null ? id : `${webhookId} ${orderingKey}`;
}

function claimableAt({ dueAt, leaseUntil }: Delivery): number {
  return Math.max(dueAt, leaseUntil ?? 0);
}
