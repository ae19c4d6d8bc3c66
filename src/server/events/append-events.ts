import { deliveredName, type EventType } from '../../contract/event-names.ts';
import { isProbeRoom } from '../../contract/probe-rooms.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { DELIVERY_LEASE_MS, type DeliveryOutlet } from '../webhooks/dispatcher/dispatcher.ts';
import type { DeliveryJob, NewDelivery, Webhook } from '../webhooks/store.ts';
import { type Happening, toNewEvent } from './event-payload.ts';
import type { EventStores, NewEvent, RoomSession, StoredEvent } from './store.ts';

export type RecordDeps<Stores extends EventStores = EventStores> = {
  readonly store: UnitOfWork<Stores>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly instanceId: string;
  readonly outlet: DeliveryOutlet;
};

type AppendDeps = Omit<RecordDeps, 'store'>;

/** One transaction's events and their deliveries, which the outlet gets when it has been committed. */
export type Recorder = {
  /**
   * Takes what is new of the happenings, in order; answers the session with its sequence moved on. `present` counts the
   * participants before the first of them. All are stored together at the transaction's end, each with its deliveries:
   * on PostgreSQL every statement is a round trip, and during some of them the events of all instances wait.
   */
  readonly record: (scope: RecordScope, happenings: readonly Happening[]) => Promise<RoomSession | undefined>;
  /** Looks at once which of these names are known, instead of when each is recorded. */
  readonly foresee: (sourceIds: readonly string[]) => Promise<void>;
};

export type RecordScope = {
  readonly session: RoomSession | undefined;
  readonly roomName: string | undefined;
  readonly present: number;
};

/** Runs `work` in one transaction; what it recorded is stored whole or not at all, and then tried at once. */
export async function recordInTransaction<Stores extends EventStores>(
  deps: RecordDeps<Stores>,
  work: (store: UnitOfWork<Stores>, recorder: Recorder) => Promise<void>,
): Promise<void> {
  const jobs = await deps.store.transaction(async (store) => {
    const events: NewEvent[] = [];
    await work(store, createRecorder(deps, store, events));
    return await storeWithDeliveries(deps, store, events);
  });
  deps.outlet.take(jobs.filter((job) => job.delivery.leaseOwner !== null));
  const left = jobs.filter((job) => job.delivery.leaseOwner === null);
  if (left.length > 0) deps.outlet.leave([...new Set(left.map((job) => job.webhook.id))]);
}

/** Puts the new events into `events`. The rooms are locked: what is not known now will not be stored meanwhile. */
function createRecorder(deps: AppendDeps, store: EventStores, events: NewEvent[]): Recorder {
  const isKnown = new Map<string, boolean>();
  const foresee = async (sourceIds: readonly string[]) => {
    const unseen = sourceIds.filter((sourceId) => !isKnown.has(sourceId));
    if (unseen.length === 0) return;
    const known = await store.events.findKnown(unseen);
    for (const sourceId of unseen) isKnown.set(sourceId, known.has(sourceId));
  };
  return {
    foresee,
    record: async (scope, happenings) => {
      await foresee(happenings.map(({ sourceId }) => sourceId));
      let { session, present } = scope;
      for (const happening of happenings) {
        present = Math.max(0, present + (CHANGE_OF_PRESENT[happening.type] ?? 0));
        if (isKnown.get(happening.sourceId)) continue;
        isKnown.set(happening.sourceId, true);
        const context = { session, roomName: scope.roomName, numParticipants: present };
        const id = `evt_${deps.ids.next()}`;
        events.push(toNewEvent(happening, { ...context, id, createdAt: deps.clock.now() }));
        if (session !== undefined) session = { ...session, sequence: session.sequence + 1 };
      }
      return session;
    },
  };
}

async function storeWithDeliveries(
  deps: AppendDeps,
  store: EventStores,
  events: readonly NewEvent[],
): Promise<readonly DeliveryJob[]> {
  if (events.length === 0) return [];
  const webhooks = await store.webhooks.list();
  const stored = await store.events.insertAll(events);
  const taken = new Map<string, number>();
  const told = stored.filter(({ room }) => room === null || !isProbeRoom(room));
  const jobs = told.flatMap((event) =>
    webhooks.flatMap((webhook) => jobFor(deps, { event, webhook, taken }) ?? []),
  );
  if (jobs.length > 0) await store.deliveries.insert(jobs.map((job) => job.delivery));
  return jobs;
}

const CHANGE_OF_PRESENT: Readonly<Record<string, number>> = { participant_joined: 1, participant_left: -1 };

type JobSource = {
  readonly event: StoredEvent;
  readonly webhook: Webhook;
  /** Leases given out in this transaction, by webhook. */
  readonly taken: Map<string, number>;
};

function jobFor(deps: AppendDeps, { event, webhook, taken }: JobSource): DeliveryJob | undefined {
  const eventName = deliveredName(event.type as EventType, webhook.events);
  if (eventName === undefined) return undefined;
  const count = taken.get(webhook.id) ?? 0;
  const hasRoom = count < deps.outlet.roomFor(webhook.id);
  if (hasRoom) taken.set(webhook.id, count + 1);
  const delivery: NewDelivery = {
    id: `dlv_${deps.ids.next()}`,
    webhookId: webhook.id,
    eventId: event.id,
    eventName,
    dueAt: event.createdAt,
    createdAt: event.createdAt,
    leaseOwner: hasRoom ? deps.instanceId : null,
    leaseUntil: hasRoom ? event.createdAt + DELIVERY_LEASE_MS : null,
  };
  return {
    delivery: { ...delivery, state: 'pending', attempts: 0, roundAttempts: 0, endedAt: null },
    webhook,
    event: { id: event.id, payload: event.payload, occurredAt: event.occurredAt },
  };
}
