import { ServiceError } from '../../../../src/contract/errors.ts';
import { packJobs } from '../../../../src/server/events/plan-deliveries.ts';
import type { NewEvent } from '../../../../src/server/events/store.ts';
import type {
  ClaimRequest,
  Delivery,
  DeliveryJob,
  DeliveryOutcome,
  DeliveryStore,
  Kept,
  Parcel,
  Webhook,
} from '../../../../src/server/webhooks/store.ts';
import type { Schedule } from '../../../support/simulation/schedule.ts';

/** The deliveries of all instances. Each statement is atomic, as in the real databases, and holds its locks no longer. */
export class SimulatedDeliveries {
  readonly rows = new Map<string, Delivery>();
  readonly parcels = new Map<string, Parcel>();
  /** The ids of all deliveries that were ever stored. */
  readonly stored = new Set<string>();
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

  /** Everything that is stored, with and without rows. */
  get all(): readonly Delivery[] {
    const parcelled = [...this.parcels.values()].flatMap((parcel) => this.#withoutRows(parcel));
    return [...this.rows.values(), ...parcelled];
  }

  get pending(): readonly Delivery[] {
    return this.all.filter(({ state }) => state === 'pending');
  }

  get #pendingRows(): readonly Delivery[] {
    return [...this.rows.values()].filter(({ state }) => state === 'pending');
  }

  #withoutRows({ owner, leaseUntil, deliveries }: Parcel): readonly Delivery[] {
    return deliveries
      .filter(({ id }) => !this.rows.has(id))
      .map((delivery) => ({ ...delivery, ...UNTRIED, leaseOwner: owner, leaseUntil }));
  }

  createStore(actor: string): DeliveryStore {
    const statement = <T>(run: () => T): Promise<T> => this.#statement(actor, run);
    const notSimulated = () => Promise.reject(new Error('not simulated'));
    return {
      claim: (request) => statement(() => this.#claim(request)),
      renew: (owner, ids, leaseUntil) =>
        statement(() => ids.filter((id) => this.#held(owner, id) && this.#change(id, { leaseUntil }))),
      release: (owner) => statement(() => this.#release(owner)),
      unpack: (owner, parcelIds, kept) =>
        parcelIds.length === 0
          ? Promise.resolve([])
          : statement(() => this.#unpackOwn(owner, parcelIds, kept ?? { ids: [], leaseUntil: 0 })),
      recordOutcomes: (owner, outcomes, emptied = []) =>
        statement(() => this.#recordAll(owner, outcomes, emptied)),
      nextClaimableAt: (except) =>
        statement(() => {
          const parcels = [...this.parcels.values()];
          const times = [...this.#claimable(except).map(claimableAt), ...parcels.map(parcelIsFreeAt)];
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
      const { parcel } = packJobs(jobs);
      if (parcel !== undefined) this.parcels.set(parcel.id, parcel);
      for (const { delivery, parcelId } of jobs) {
        this.stored.add(delivery.id);
        if (parcelId !== undefined) {
          this.#grant(delivery.leaseOwner ?? '', delivery.id);
          continue;
        }
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
    return this.#pendingRows
      .filter((one) => one.webhookId === webhookId && one.orderingKey === orderingKey)
      .toSorted((one, other) => (one.sequence ?? 0) - (other.sequence ?? 0));
  }

  #claimable(exceptWebhooks: readonly string[]): readonly Delivery[] {
    return this.#pendingRows.filter(
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
    for (const parcel of this.parcels.values()) {
      if (parcelIsFreeAt(parcel) > now) continue;
      const left = this.#unpack(parcel, NO_LEASE);
      if (parcel.owner !== owner) this.takenOver += left.length;
    }
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
    for (const parcel of this.parcels.values()) if (parcel.owner === owner) this.#unpack(parcel, NO_LEASE);
    const held = this.#pendingRows.filter(({ leaseOwner }) => leaseOwner === owner);
    for (const { id } of held) this.#change(id, { leaseOwner: null, leaseUntil: null });
    this.notify(owner);
    return held.length;
  }

  /** Does the same as unpack in parcels.sql.ts. */
  #unpack(parcel: Parcel, lease: Lease | ((id: string) => Lease)): readonly Delivery[] {
    const left = this.#withoutRows(parcel);
    for (const row of left)
      this.rows.set(row.id, { ...row, ...(typeof lease === 'function' ? lease(row.id) : lease) });
    this.parcels.delete(parcel.id);
    return left;
  }

  #unpackOwn(owner: string, parcelIds: readonly string[], { ids, leaseUntil }: Kept): readonly string[] {
    const lease = (id: string): Lease => (ids.includes(id) ? { leaseOwner: owner, leaseUntil } : NO_LEASE);
    return parcelIds
      .flatMap((id) => this.#ownParcel(owner, id) ?? [])
      .flatMap((parcel) => this.#unpack(parcel, lease))
      .map(({ id }) => id)
      .filter((id) => ids.includes(id));
  }

  #ownParcel(owner: string, id: string | undefined): Parcel | undefined {
    const parcel = this.parcels.get(id ?? '');
    return parcel?.owner === owner ? parcel : undefined;
  }

  /** Does the same as recordParcelled in parcels.sql.ts, and then as record-outcomes.sql.ts. */
  #recordAll(owner: string, outcomes: readonly DeliveryOutcome[], emptied: readonly string[]): void {
    const others = outcomes.filter(({ attempt, next, parcelled }) => {
      const parcel = this.#ownParcel(owner, parcelled?.parcelId);
      const row = parcel && this.#withoutRows(parcel).find(({ id }) => id === attempt.deliveryId);
      if (row === undefined) return true;
      this.attempts.set(row.id, [`${attempt.startedAt} ${attempt.durationMs}`]);
      this.rows.set(row.id, { ...row, ...NO_LEASE, ...next, attempts: 1, roundAttempts: 1 });
      return false;
    });
    for (const id of emptied) if (this.#ownParcel(owner, id) !== undefined) this.parcels.delete(id);
    this.#record(owner, others);
  }

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

type Lease = Pick<Delivery, 'leaseOwner' | 'leaseUntil'>;

const NO_LEASE: Lease = { leaseOwner: null, leaseUntil: null };
const UNTRIED = { state: 'pending', waiting: null, attempts: 0, roundAttempts: 0, endedAt: null } as const;

/** A delivery without an order has one of its own. */
function readOrder({ id, webhookId, orderingKey }: Delivery): string {
  return orderingKey === null ? id : `${webhookId} ${orderingKey}`;
}

function parcelIsFreeAt({ leaseUntil }: Parcel): number {
  return leaseUntil;
}

function claimableAt({ dueAt, leaseUntil }: Delivery): number {
  return Math.max(dueAt, leaseUntil ?? 0);
}
