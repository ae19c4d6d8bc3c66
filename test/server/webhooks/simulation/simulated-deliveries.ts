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

/** The deliveries of all instances. Each statement is atomic, as in the real databases, and takes a lock for no longer. */
export class SimulatedDeliveries {
  readonly rows = new Map<string, Delivery>();
  readonly events = new Map<string, NewEvent>();
  /** How often an instance was given the lease of a delivery, by `instance delivery`. */
  readonly grants = new Map<string, number>();
  /** The start and duration of each attempt that was logged. */
  readonly attempts = new Map<string, string[]>();
  /** Whether requests to the database and its responses get lost. */
  isPeaceful = false;
  takenOver = 0;
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

  storeOf(actor: string): DeliveryStore {
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
          const times = this.pending.filter(({ webhookId }) => !except.includes(webhookId)).map(claimableAt);
          return times.length === 0 ? undefined : Math.min(...times);
        }),
      bringForward: () => statement(() => undefined),
      insert: notSimulated,
      list: notSimulated,
      find: notSimulated,
      listAttempts: notSimulated,
      replay: notSimulated,
      replayFailed: notSimulated,
      purge: notSimulated,
    };
  }

  /** The transaction that stores an event with its deliveries. */
  async insert(actor: string, event: NewEvent, jobs: readonly DeliveryJob[]): Promise<void> {
    await this.#statement(actor, () => {
      this.events.set(event.id, event);
      for (const { delivery } of jobs) {
        this.rows.set(delivery.id, delivery);
        if (delivery.leaseOwner !== null) this.#grant(delivery.leaseOwner, delivery.id);
      }
      this.notify(actor);
    });
  }

  subscribe(actor: string, listener: (origin: 'here' | 'elsewhere') => void): () => void {
    this.#listeners.set(actor, listener);
    return () => this.#listeners.delete(actor);
  }

  /** A notification may get lost, as NOTIFY is while a connection is. */
  notify(from: string): void {
    for (const [actor, listener] of this.#listeners) {
      if (!this.isPeaceful && this.#schedule.oneIn(20)) continue;
      void this.#schedule.turn(actor).then(() => listener(actor === from ? 'here' : 'elsewhere'));
    }
  }

  /** A statement takes two turns, so that its response can be lost. */
  async #statement<T>(actor: string, run: () => T): Promise<T> {
    await this.#schedule.turn(actor);
    this.#failSometimes();
    const result = run();
    await this.#schedule.turn(actor);
    this.#failSometimes();
    return result;
  }

  #failSometimes(): void {
    if (this.isPeaceful || !this.#schedule.oneIn(12)) return;
    throw new ServiceError('storage-unavailable', 'lost', { retryable: true });
  }

  #claim({ now, owner, leaseUntil, limit, limitPerWebhook, exceptWebhooks }: ClaimRequest) {
    const due = this.pending
      .filter((row) => claimableAt(row) <= now && !exceptWebhooks.includes(row.webhookId))
      .toSorted((one, other) => claimableAt(one) - claimableAt(other));
    const claimed = [...Map.groupBy(due, ({ webhookId }) => webhookId).values()]
      .flatMap((rows) => rows.slice(0, limitPerWebhook))
      .slice(0, limit);
    const positions = [...this.events.keys()];
    return claimed
      .map(({ id, leaseOwner }) => {
        if (leaseOwner !== null && leaseOwner !== owner) this.takenOver += 1;
        this.#grant(owner, id);
        return this.#jobOf(this.#change(id, { leaseOwner: owner, leaseUntil }));
      })
      .toSorted(
        (one, other) =>
          one.delivery.dueAt - other.delivery.dueAt ||
          positions.indexOf(one.event.id) - positions.indexOf(other.event.id),
      );
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
    if (held.length > 0) this.notify(owner);
    return held.length;
  }

  /** As record-outcomes.sql.ts. */
  #record(owner: string, outcomes: readonly DeliveryOutcome[]): void {
    for (const { attempt, next } of outcomes) {
      const row = this.rows.get(attempt.deliveryId);
      if (row === undefined) continue;
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
        const ended = { roundAttempts: row.roundAttempts + 1, leaseOwner: null, leaseUntil: null };
        this.#change(row.id, { ...counted, ...ended, ...next });
      }
    }
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

function claimableAt({ dueAt, leaseUntil }: Delivery): number {
  return Math.max(dueAt, leaseUntil ?? 0);
}
