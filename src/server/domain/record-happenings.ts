import { deliveredName } from '../../contract/event-names.ts';
import type { Clock, IdGenerator } from '../ports/clock.ts';
import type { DeliveryOutlet } from '../ports/delivery-outlet.ts';
import type { RoomSession, StoredEvent } from '../ports/event-store.ts';
import type { Store } from '../ports/store.ts';
import type { DeliveryJob, NewDelivery, Webhook } from '../ports/webhook-store.ts';
import { type Happening, toNewEvent } from './event-payload.ts';

/** Short: a killed instance's deliveries are taken over when it has run out. Renewed while they are in hand. */
export const LEASE_MS = 12_000;

export type RecordDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly instanceId: string;
  readonly outlet: DeliveryOutlet;
};

/** One transaction's events and their deliveries, which the outlet gets when it has been committed. */
export type Recorder = {
  /**
   * Stores what is new of the happenings, in order, each with its deliveries; answers the session with its sequence
   * moved on. `present` counts the participants before the first of them.
   */
  readonly record: (scope: RecordScope, happenings: readonly Happening[]) => Promise<RoomSession | undefined>;
  readonly jobs: readonly DeliveryJob[];
};

export type RecordScope = {
  readonly session: RoomSession | undefined;
  readonly roomName: string | undefined;
  readonly present: number;
};

/** Runs `work` in one transaction; what it recorded is stored whole or not at all, and then tried at once. */
export async function recordInTransaction(
  deps: RecordDeps,
  work: (store: Store, recorder: Recorder) => Promise<void>,
): Promise<void> {
  const jobs = await deps.store.transaction(async (store) => {
    const recorder = createRecorder(deps, store, await store.webhooks.list());
    await work(store, recorder);
    return recorder.jobs;
  });
  deps.outlet.take(jobs.filter((job) => job.delivery.leaseOwner !== null));
  if (jobs.some((job) => job.delivery.leaseOwner === null)) deps.outlet.wake();
}

function createRecorder(deps: RecordDeps, store: Store, webhooks: readonly Webhook[]): Recorder {
  const jobs: DeliveryJob[] = [];
  const taken = new Map<string, number>();
  const recordOne = async (scope: RecordScope, happening: Happening): Promise<boolean> => {
    const id = `evt_${deps.ids.next()}`;
    const createdAt = deps.clock.now();
    const { session, roomName, present: numParticipants } = scope;
    const event = await store.events.insert(
      toNewEvent(happening, { id, session, roomName, numParticipants, createdAt }),
    );
    if (event === undefined) return false;
    const own = webhooks.flatMap((webhook) => jobFor(deps, { event, happening, webhook, taken }) ?? []);
    if (own.length > 0) await store.deliveries.insert(own.map((job) => job.delivery));
    jobs.push(...own);
    return true;
  };
  return {
    jobs,
    record: async (scope, happenings) => {
      let { session, present } = scope;
      for (const happening of happenings) {
        present += CHANGE_OF_PRESENT[happening.type] ?? 0;
        const isNew = await recordOne({ ...scope, session, present: Math.max(0, present) }, happening);
        if (isNew && session !== undefined) session = { ...session, sequence: session.sequence + 1 };
      }
      return session;
    },
  };
}

const CHANGE_OF_PRESENT: Readonly<Record<string, number>> = { participant_joined: 1, participant_left: -1 };

type JobSource = {
  readonly event: StoredEvent;
  readonly happening: Happening;
  readonly webhook: Webhook;
  /** Leases given out in this transaction, by webhook. */
  readonly taken: Map<string, number>;
};

function jobFor(deps: RecordDeps, { event, happening, webhook, taken }: JobSource): DeliveryJob | undefined {
  const eventName = deliveredName(happening.type, webhook.events);
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
    leaseUntil: hasRoom ? event.createdAt + LEASE_MS : null,
  };
  return {
    delivery: { ...delivery, state: 'pending', attempts: 0, roundAttempts: 0, endedAt: null },
    webhook,
    event: { id: event.id, payload: event.payload, occurredAt: event.occurredAt },
  };
}
