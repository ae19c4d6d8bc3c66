import { isProbeRoom } from '../../contract/names.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import type { Tracing } from '../platform/tracing/tracing.ts';
import { readEventUsage, USAGE_EVENTS } from '../usage/usage-rows.ts';
import type { DeliveryDispatcher } from '../webhooks/dispatcher/dispatcher.ts';
import type { DeliveryJob } from '../webhooks/store.ts';
import { type DomainEvent, type EventSubject, toNewEvent } from './event-payload.ts';
import { dispatchJobs, packJobs, planDeliveries, toFanOut } from './plan-deliveries.ts';
import type { EventContext, EventStores, LeftOut, NewEvent, RoomSession } from './store.ts';

export type AppendEventsDeps<Stores extends EventStores = EventStores> = {
  readonly store: UnitOfWork<Stores>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly dispatcher: DeliveryDispatcher;
  readonly tracing?: Pick<Tracing, 'current'> | undefined;
  /** Called after the commit with the events that were stored. */
  readonly onStored?: ((events: readonly CountedEvent[]) => void) | undefined;
  /** Called after the commit for each event that was left out, because its participant starts too much. */
  readonly onUntold?: ((type: string) => void) | undefined;
};

/** An event as the metrics count it. */
type CountedEvent = { readonly type: string; readonly isReconciled: boolean };

type AddedEvent = {
  readonly event: NewEvent;
  readonly subject: EventSubject;
  readonly isReconciled: boolean;
  readonly usedUntil: number | undefined;
};

type Appended = {
  readonly events: AddedEvent[];
  /** Types of the events that were left out. */
  readonly untold: string[];
  context: AppendContext | undefined;
};

/**
 * With fewer webhooks than this, usual transactions stay below the maximum of deliveries per commit and need no fan-out. That
 * is not enough for a webhook that asks for order.
 */
const MIN_WEBHOOKS_OF_FAN_OUT = 5;

type StoreEventsDeps = Omit<AppendEventsDeps, 'store'>;

/** Collects the events of one transaction. They are stored with their deliveries when the transaction ends. */
export type EventAppender = {
  /**
   * Adds the events that are not stored yet in order, and returns the session with its sequence advanced. `scope.present` is
   * the number of participants before the first event. All events are stored together at the end of the transaction.
   */
  readonly append: (
    scope: AppendScope,
    domainEvents: readonly DomainEvent[],
  ) => Promise<RoomSession | undefined>;
  /** Returns when an event of this transaction, or one of those that `setContext` took over, happened. */
  readonly findInstant: (sourceId: string) => number | undefined;
  /** Looks up many source ids in one query, so that `append` does not look up each one. */
  readonly preloadKnownIds: (sourceIds: readonly string[]) => Promise<void>;
  /** Takes over what was read with the locks of the rooms, for these source ids, so that it is not read again. */
  readonly setContext: (context: AppendContext, sourceIds: readonly string[]) => void;
};

type AppendContext = Pick<EventContext, 'knownInstants' | 'registrationsVersion' | 'isFanOutOpen'>;

type AppendScope = {
  readonly session: RoomSession | undefined;
  readonly roomName: string | undefined;
  readonly present: number;
  /** The trace of the events; by default the trace of the running request. */
  readonly traceparent?: string | undefined;
};

/**
 * Runs `work` in one transaction and returns its value. All its events and deliveries are stored, or none. After the commit
 * the dispatcher sends the deliveries at once. Deliveries beyond the maximum of one transaction are stored later, by
 * fan-out.ts.
 */
export async function appendEvents<Stores extends EventStores, T>(
  deps: AppendEventsDeps<Stores>,
  work: (store: UnitOfWork<Stores>, appender: EventAppender) => Promise<T>,
): Promise<T> {
  const { value, events, untold, jobs, leftOut } = await deps.store.transaction(async (store) => {
    const appended: Appended = { events: [], untold: [], context: undefined };
    const result = await work(store, createAppender(deps, store, appended));
    return { value: result, ...appended, ...(await storeWithDeliveries(deps, store, appended)) };
  });
  deps.onStored?.(
    events
      .filter(({ event }) => !leftOut.known.has(event.id))
      .map(({ event, isReconciled }) => ({ type: event.type, isReconciled })),
  );
  for (const type of untold) deps.onUntold?.(type);
  const stored = jobs.filter((job) => !leftOut.known.has(job.event.id));
  dispatchJobs(deps.dispatcher, stored, leftOut.waiting);
  return value;
}

/**
 * The rooms are locked, so that no other transaction can store an event of them that this one has found to be unknown.
 * Events without a room are checked again when they are stored.
 */
function createAppender(deps: StoreEventsDeps, store: EventStores, appended: Appended): EventAppender {
  const isKnown = new Map<string, boolean>();
  const instants = new Map<string, number>();
  const preloadKnownIds = async (sourceIds: readonly string[]) => {
    const unseen = sourceIds.filter((sourceId) => !isKnown.has(sourceId));
    if (unseen.length === 0) return;
    const known = await store.events.findKnown(unseen);
    for (const sourceId of unseen) isKnown.set(sourceId, known.has(sourceId));
  };
  return {
    preloadKnownIds,
    setContext: (context, sourceIds) => {
      appended.context = context;
      for (const sourceId of sourceIds) isKnown.set(sourceId, context.knownInstants.has(sourceId));
      for (const [sourceId, instant] of context.knownInstants) instants.set(sourceId, instant);
    },
    findInstant: (sourceId) => instants.get(sourceId),
    append: async (scope, domainEvents) => {
      await preloadKnownIds(domainEvents.map(({ sourceId }) => sourceId));
      const traceparent = scope.traceparent ?? deps.tracing?.current() ?? null;
      let { session, present } = scope;
      for (const domainEvent of domainEvents) {
        if (!domainEvent.isLate) present = Math.max(0, present + (PRESENCE_CHANGES[domainEvent.type] ?? 0));
        if (domainEvent.isUntold) appended.untold.push(domainEvent.type);
        if (domainEvent.isUntold || isKnown.get(domainEvent.sourceId)) continue;
        isKnown.set(domainEvent.sourceId, true);
        instants.set(domainEvent.sourceId, domainEvent.occurredAt);
        const context = { session, roomName: scope.roomName, numParticipants: countAt(domainEvent, present) };
        const id = `evt_${deps.ids.next()}`;
        const event = toNewEvent(domainEvent, { ...context, id, traceparent, createdAt: deps.clock.now() });
        const { subject, isReconciled, usedUntil } = domainEvent;
        appended.events.push({ event, subject, isReconciled, usedUntil });
        if (session !== undefined) session = { ...session, sequence: session.sequence + 1 };
      }
      return session;
    },
  };
}

async function storeWithDeliveries(
  deps: StoreEventsDeps,
  store: EventStores,
  { events: added, context }: Appended,
): Promise<{ readonly jobs: readonly DeliveryJob[]; readonly leftOut: LeftOut }> {
  const events = added.map(({ event }) => event);
  const used = added.filter(({ event }) => USAGE_EVENTS.has(event.type));
  if (used.length > 0)
    await store.usage.save(
      used.flatMap(({ event, subject, usedUntil }) =>
        readEventUsage({ ...event, subject, usedUntil }, event),
      ),
    );
  if (events.length === 0) return { jobs: [], leftOut: { known: new Set(), waiting: new Set() } };
  const webhooks = await store.webhooks.listRegistrations(context?.registrationsVersion);
  const delivered = events.filter(({ room }) => room === null || !isProbeRoom(room));
  const open = delivered.map((event) => ({ event, after: undefined }));
  const mayQueue =
    webhooks.length >= MIN_WEBHOOKS_OF_FAN_OUT || webhooks.some(({ ordering }) => ordering === 'room');
  const mustQueue = mayQueue && (context?.isFanOutOpen ?? (await store.fanOuts.isAnyOpen()));
  const { jobs, rest } = mustQueue ? { jobs: [], rest: open } : planDeliveries(deps, webhooks, open);
  await store.fanOuts.insert(rest.map(toFanOut));
  const { deliveries, parcel } = packJobs(jobs);
  const leftOut = await store.events.insertAll(events, deliveries, parcel);
  return { jobs, leftOut };
}

/** room_started counts the first participant, although participant_joined follows it. */
function countAt({ type }: DomainEvent, present: number): number {
  return type === 'room_started' ? Math.max(1, present) : present;
}

const PRESENCE_CHANGES: Readonly<Record<string, number>> = { participant_joined: 1, participant_left: -1 };

/** A room known by its name, with its open session if there is one. */
export type NamedRoom = { readonly name: string; readonly session: RoomSession | undefined };

/**
 * Locks the newest session of the room, unless it has ended. Call it first in a transaction: rooms are locked before
 * events are inserted.
 */
export async function lockNamedRoom(store: EventStores, name: string): Promise<NamedRoom> {
  const newest = await store.presence.findRoomAt(name, Number.MAX_SAFE_INTEGER);
  const isOpen = newest !== undefined && newest.endedAt === null;
  return { name, session: isOpen ? await store.presence.lockRoom(newest.sid) : undefined };
}

export async function appendRoomEvent(
  store: EventStores,
  appender: EventAppender,
  { room, domainEvent }: { readonly room: NamedRoom; readonly domainEvent: DomainEvent },
): Promise<void> {
  await appendRoomEvents(store, appender, { room, domainEvents: [domainEvent] });
}

type RoomEvents = { readonly room: NamedRoom; readonly domainEvents: readonly DomainEvent[] };

export async function appendRoomEvents(
  store: EventStores,
  appender: EventAppender,
  { room: { name, session }, domainEvents }: RoomEvents,
): Promise<void> {
  if (domainEvents.length === 0) return;
  const present = session === undefined ? 0 : await store.presence.countPresent(session.sid);
  const updated = await appender.append({ session, roomName: name, present }, domainEvents);
  if (updated !== undefined) await store.presence.saveRoom({ ...updated, metadata: null });
}
