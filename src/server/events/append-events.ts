import { deliveredName, type EventType } from '../../contract/event-names.ts';
import { isProbeRoom } from '../../contract/probe-rooms.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { DELIVERY_LEASE_MS, type DeliveryDispatcher } from '../webhooks/dispatcher/dispatcher.ts';
import type { DeliveryJob, NewDelivery, Webhook } from '../webhooks/store.ts';
import { type DomainEvent, toNewEvent } from './event-payload.ts';
import type { EventStores, NewEvent, RoomSession, StoredEvent } from './store.ts';

export type AppendEventsDeps<Stores extends EventStores = EventStores> = {
  readonly store: UnitOfWork<Stores>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly instanceId: string;
  readonly dispatcher: DeliveryDispatcher;
};

type StoreEventsDeps = Omit<AppendEventsDeps, 'store'>;

/** Collects the events of one transaction. They are stored with their deliveries when the transaction ends. */
export type EventAppender = {
  /**
   * Adds the events that are not stored yet, in order, and returns the session with its sequence advanced.
   * `scope.present` is the number of participants before the first event. All events are stored together at the end
   * of the transaction, because on PostgreSQL every statement is a round trip during which other instances may wait.
   */
  readonly append: (
    scope: AppendScope,
    domainEvents: readonly DomainEvent[],
  ) => Promise<RoomSession | undefined>;
  /** Looks up many source ids in one query, so that `append` does not have to look up each. */
  readonly preloadKnownIds: (sourceIds: readonly string[]) => Promise<void>;
};

export type AppendScope = {
  readonly session: RoomSession | undefined;
  readonly roomName: string | undefined;
  readonly present: number;
};

/**
 * Runs `work` in one transaction and returns its value. Its events and their deliveries are stored whole or not at
 * all; after the commit the dispatcher tries the deliveries at once.
 */
export async function appendEvents<Stores extends EventStores, T>(
  deps: AppendEventsDeps<Stores>,
  work: (store: UnitOfWork<Stores>, appender: EventAppender) => Promise<T>,
): Promise<T> {
  const { value, jobs } = await deps.store.transaction(async (store) => {
    const events: NewEvent[] = [];
    const result = await work(store, createAppender(deps, store, events));
    return { value: result, jobs: await storeWithDeliveries(deps, store, events) };
  });
  deps.dispatcher.dispatch(jobs.filter((job) => job.delivery.leaseOwner !== null));
  const overflow = jobs.filter((job) => job.delivery.leaseOwner === null);
  if (overflow.length > 0) deps.dispatcher.overflow([...new Set(overflow.map((job) => job.webhook.id))]);
  return value;
}

/** The rooms are locked: nobody else can store an event that this transaction has found to be unknown. */
function createAppender(deps: StoreEventsDeps, store: EventStores, events: NewEvent[]): EventAppender {
  const isKnown = new Map<string, boolean>();
  const preloadKnownIds = async (sourceIds: readonly string[]) => {
    const unseen = sourceIds.filter((sourceId) => !isKnown.has(sourceId));
    if (unseen.length === 0) return;
    const known = await store.events.findKnown(unseen);
    for (const sourceId of unseen) isKnown.set(sourceId, known.has(sourceId));
  };
  return {
    preloadKnownIds,
    append: async (scope, domainEvents) => {
      await preloadKnownIds(domainEvents.map(({ sourceId }) => sourceId));
      let { session, present } = scope;
      for (const domainEvent of domainEvents) {
        present = Math.max(0, present + (PRESENCE_CHANGES[domainEvent.type] ?? 0));
        if (isKnown.get(domainEvent.sourceId)) continue;
        isKnown.set(domainEvent.sourceId, true);
        const context = { session, roomName: scope.roomName, numParticipants: countAt(domainEvent, present) };
        const id = `evt_${deps.ids.next()}`;
        events.push(toNewEvent(domainEvent, { ...context, id, createdAt: deps.clock.now() }));
        if (session !== undefined) session = { ...session, sequence: session.sequence + 1 };
      }
      return session;
    },
  };
}

async function storeWithDeliveries(
  deps: StoreEventsDeps,
  store: EventStores,
  events: readonly NewEvent[],
): Promise<readonly DeliveryJob[]> {
  if (events.length === 0) return [];
  const webhooks = await store.webhooks.list();
  const stored = await store.events.insertAll(events);
  const leased = new Map<string, number>();
  const delivered = stored.filter(({ room }) => room === null || !isProbeRoom(room));
  const jobs = delivered.flatMap((event) =>
    webhooks.flatMap((webhook) => jobFor(deps, { event, webhook, leased }) ?? []),
  );
  if (jobs.length > 0) await store.deliveries.insert(jobs.map((job) => job.delivery));
  return jobs;
}

/** The first participant starts the room, and is counted in it although participant_joined comes after it. */
function countAt({ type }: DomainEvent, present: number): number {
  return type === 'room_started' ? Math.max(1, present) : present;
}

const PRESENCE_CHANGES: Readonly<Record<string, number>> = { participant_joined: 1, participant_left: -1 };

type JobSource = {
  readonly event: StoredEvent;
  readonly webhook: Webhook;
  /** Number of leases that this transaction has given out, by webhook. */
  readonly leased: Map<string, number>;
};

function jobFor(deps: StoreEventsDeps, { event, webhook, leased }: JobSource): DeliveryJob | undefined {
  const eventName = deliveredName(event.type as EventType, webhook.events);
  if (eventName === undefined) return undefined;
  const count = leased.get(webhook.id) ?? 0;
  const hasCapacity = count < deps.dispatcher.capacityFor(webhook.id);
  if (hasCapacity) leased.set(webhook.id, count + 1);
  const delivery: NewDelivery = {
    id: `dlv_${deps.ids.next()}`,
    webhookId: webhook.id,
    eventId: event.id,
    eventName,
    dueAt: event.createdAt,
    createdAt: event.createdAt,
    leaseOwner: hasCapacity ? deps.instanceId : null,
    leaseUntil: hasCapacity ? event.createdAt + DELIVERY_LEASE_MS : null,
  };
  return {
    delivery: { ...delivery, state: 'pending', attempts: 0, roundAttempts: 0, endedAt: null },
    webhook,
    event: { id: event.id, roomSid: event.roomSid, payload: event.payload, occurredAt: event.occurredAt },
  };
}
