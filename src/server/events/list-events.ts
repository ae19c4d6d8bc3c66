import { ServiceError } from '../../contract/errors.ts';
import { EVENT_TYPES, type EventType, LATEST_CURSOR } from '../../contract/event-names.ts';
import type { Event, EventList, EventOrder } from '../../contract/events.ts';
import type { RoomPrefixes } from '../../contract/keys.ts';
import type { Clock } from '../platform/clock.ts';
import { cursorCodec, refusedCursor } from '../platform/http/read-page.ts';
import { type ChangeFeed, type WaitForChangeDeps, waitForChange } from '../platform/storage/changes.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { withFileUrl } from '../webhooks/dispatcher/build-delivery.ts';
import type { FileUrls } from '../webhooks/sender/sender.ts';
import type { EventStores, StoredEvent } from './store.ts';

export type ListEventsDeps = WaitForChangeDeps & {
  readonly store: UnitOfWork<EventStores>;
  readonly fileUrls: FileUrls;
};

export type EventsQuery = {
  readonly cursor?: string | undefined;
  /** Unix milliseconds. */
  readonly since?: number | undefined;
  readonly room?: string | undefined;
  readonly rooms?: RoomPrefixes | undefined;
  readonly types?: readonly EventType[] | undefined;
  readonly limit: number;
  /** By default that of the cursor; oldest without one. */
  readonly order?: EventOrder | undefined;
  /** Maximum seconds to wait for an event when there is none. */
  readonly waitSeconds: number;
};

const CURSOR = cursorCodec('events', 'number');
/** The cursors of lists that begin with the newest event: the position of the last one that was read. */
const NEWEST_CURSOR = cursorCodec('newest-events', 'number');

/**
 * Lists stored events in order. With a wait, an empty list is returned only after the wait. A reader that follows nextCursor
 * misses no event.
 */
type EventLister = (query: EventsQuery) => Promise<EventList>;

export function createEventLister(deps: ListEventsDeps): EventLister {
  const { changes, events } = deps.store;
  const pages = new SharedReads<EventList>(changes);
  const lastPosition = new LastPosition({ clock: deps.clock, changes, read: () => events.lastPosition() });
  const shared: SharedDeps = {
    ...deps,
    lastPosition,
    readPage: (query, afterPosition) =>
      pages.get(toReadKey(query, afterPosition), () => readPage(shared, query, afterPosition)),
  };
  return (query) => (isNewestFirst(query) ? listNewest(shared, query) : listEvents(shared, query));
}

type SharedDeps = ListEventsDeps & {
  readonly readPage: (query: EventsQuery, afterPosition: number) => Promise<EventList>;
  readonly lastPosition: LastPosition;
};

function toReadKey({ room, rooms, since, types, limit }: EventsQuery, afterPosition: number): string {
  return JSON.stringify([afterPosition, room, rooms, since, types, limit]);
}

function isNewestFirst({ cursor, order }: EventsQuery): boolean {
  const isOfNewest = cursor !== undefined && cursor !== LATEST_CURSOR && NEWEST_CURSOR.accepts(cursor);
  return order === undefined ? isOfNewest : order === 'newest';
}

/** Later events are never part of this list: its cursor leads to earlier ones, until a page is empty. */
async function listNewest(deps: ListEventsDeps, query: EventsQuery): Promise<EventList> {
  const { cursor, room, rooms, since, limit } = query;
  if (query.waitSeconds > 0 || cursor === LATEST_CURSOR) {
    const [parameter, detail] =
      cursor === LATEST_CURSOR
        ? ['cursor', `${LATEST_CURSOR} begins after the newest event: leave it out with order=newest`]
        : ['wait', 'waits for later events, which order=newest does not list'];
    throw new ServiceError('invalid-request', `Parameter ${parameter}: ${detail}.`, {
      errors: [{ parameter, detail }],
    });
  }
  const [beforePosition] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : NEWEST_CURSOR.decode(cursor);
  const types = query.types ?? EVENT_TYPES;
  const stored = await deps.store.events.list({
    afterPosition: 0,
    beforePosition,
    room,
    rooms,
    since,
    limit,
    types,
  });
  const events = await Promise.all(stored.map((event) => toEvent(deps.fileUrls, event)));
  const reached = stored.length === limit ? stored.at(-1)?.position : undefined;
  return { events, nextCursor: NEWEST_CURSOR.encode(reached ?? 0) };
}

async function listEvents(deps: SharedDeps, query: EventsQuery): Promise<EventList> {
  const start = await findStart(deps, query.cursor);
  const deadline = deps.clock.monotonic() + query.waitSeconds * 1000;
  // A reader that waits at the end of the events costs no read until the next event.
  if (query.waitSeconds > 0 && deps.lastPosition.known === start) await waitForLater(deps, start, deadline);
  let afterPosition = start;
  for (;;) {
    const page = await deps.readPage(query, afterPosition);
    const isOver = deps.clock.monotonic() >= deadline || deps.closing.aborted;
    if (page.events.length > 0 || isOver) return page;
    afterPosition = CURSOR.decode(page.nextCursor)[0];
    await waitForLater(deps, afterPosition, deadline);
  }
}

/** Waits until there is an event after the position. The cached position is enough for the first check only. */
async function waitForLater(deps: SharedDeps, position: number, deadline: number): Promise<void> {
  let known = deps.lastPosition.known;
  const hasChanged = async (): Promise<boolean> => {
    const last = known ?? (await deps.lastPosition.recent());
    known = undefined;
    return last > position;
  };
  await waitForChange(deps, { topic: 'events', deadline, hasChanged });
}

async function findStart({ lastPosition }: SharedDeps, cursor: string | undefined): Promise<number> {
  if (cursor === undefined) return 0;
  if (cursor === LATEST_CURSOR) return await lastPosition.read();
  const [start] = CURSOR.decode(cursor);
  const isKnown = lastPosition.known !== undefined && start <= lastPosition.known;
  if (!isKnown) await refuseBeyond(lastPosition, start);
  return start;
}

/**
 * Rejects a cursor beyond the last event. It belongs to a store that was replaced or restored: without the error its reader
 * would wait until the new store has as many events.
 */
async function refuseBeyond(lastPosition: LastPosition, start: number): Promise<void> {
  if (start <= (await lastPosition.read())) return;
  throw refusedCursor(
    'is beyond the last event: the store is another one than it comes from; begin again by since',
  );
}

async function readPage(deps: SharedDeps, query: EventsQuery, afterPosition: number): Promise<EventList> {
  // Reads the position first, so that an event stored between the two reads is not skipped.
  const last = await deps.lastPosition.read();
  if (last <= afterPosition) return { events: [], nextCursor: CURSOR.encode(afterPosition) };
  const { room, rooms, since, limit } = query;
  const stored = await deps.store.events.list({
    afterPosition,
    room,
    rooms,
    since,
    limit,
    types: query.types ?? EVENT_TYPES,
  });
  const events = await Promise.all(stored.map((event) => toEvent(deps.fileUrls, event)));
  const isFull = stored.length === limit;
  const end = isFull ? afterPosition : Math.max(afterPosition, last);
  const reached = Math.max(end, stored.at(-1)?.position ?? 0);
  return { events, nextCursor: CURSOR.encode(reached) };
}

async function toEvent(fileUrls: FileUrls, { type, payload }: StoredEvent): Promise<Event> {
  return { event: type, ...JSON.parse(await withFileUrl(fileUrls, payload)) };
}

/** Age up to which a position is recent. */
const RECENT_MS = 1_000;

type LastPositionDeps = {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly changes: ChangeFeed;
  readonly read: () => Promise<number>;
};

/** Position of the last stored event, cached until the next change of the events. */
class LastPosition {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #read: () => Promise<number>;
  readonly #reads: SharedReads<number>;
  #known: number | undefined;
  #knownAt = 0;
  #changes = 0;

  constructor({ clock, changes, read }: LastPositionDeps) {
    this.#clock = clock;
    this.#read = read;
    this.#reads = new SharedReads(changes);
    changes.subscribe('events', () => {
      this.#known = undefined;
      this.#changes += 1;
    });
  }

  /**
   * The cached position; undefined when a change was reported since it was read. A change by another process may go
   * unreported, so that only callers that read again after some time may rely on it.
   */
  get known(): number | undefined {
    return this.#known;
  }

  /**
   * Returns the cached position if it is recent, and reads it otherwise. A hundred readers that look again after some time,
   * one after the other, then cause one read a second.
   */
  async recent(): Promise<number> {
    const isRecent = this.#clock.monotonic() - this.#knownAt < RECENT_MS;
    return this.#known !== undefined && isRecent ? this.#known : await this.read();
  }

  /** Reads the position. Concurrent callers share one read. */
  async read(): Promise<number> {
    const changesBefore = this.#changes;
    const startedAt = this.#clock.monotonic();
    const position = await this.#reads.get('last', this.#read);
    if (changesBefore === this.#changes) {
      this.#known = position;
      this.#knownAt = startedAt;
    }
    return position;
  }
}

/**
 * Shares running reads of the events among readers with the same query. A read that began before a change is not shared with
 * readers that ask after the change, because it may not include the new event.
 */
class SharedReads<Value> {
  readonly #reads = new Map<string, Promise<Value>>();

  constructor(changes: ChangeFeed) {
    changes.subscribe('events', () => this.#reads.clear());
  }

  get(key: string, read: () => Promise<Value>): Promise<Value> {
    const running = this.#reads.get(key);
    if (running !== undefined) return running;
    const started = read().finally(() => {
      if (this.#reads.get(key) === started) this.#reads.delete(key);
    });
    this.#reads.set(key, started);
    return started;
  }
}
