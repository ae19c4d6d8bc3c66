import { ServiceError } from '../../contract/errors.ts';
import { EVENT_TYPES, type EventType, LATEST_CURSOR } from '../../contract/event-names.ts';
import type { Event, EventList, EventOrder } from '../../contract/events.ts';
import type { RoomPrefixes } from '../../contract/keys.ts';
import type { Clock } from '../platform/clock.ts';
import { cursorCodec } from '../platform/http/read-page.ts';
import { refusedParameter } from '../platform/http/refusals.ts';
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
  /** The default is the order of the cursor; oldest without one. */
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
    newEvents: new NewEvents(deps.store),
    readPage: (query, afterPosition) =>
      pages.get(toReadKey(query, afterPosition), () => readPage(shared, query, afterPosition)),
  };
  return (query) => (isNewestFirst(query) ? listNewest(shared, query) : listEvents(shared, query));
}

type SharedDeps = ListEventsDeps & {
  readonly readPage: (query: EventsQuery, afterPosition: number) => Promise<EventList>;
  readonly lastPosition: LastPosition;
  readonly newEvents: NewEvents;
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
  let afterPosition = start;
  // A reader that waits at the end of the events costs no read until the next event.
  if (query.waitSeconds > 0 && deps.lastPosition.known === start)
    afterPosition = await waitForLater(deps, query, { position: start, deadline });
  for (;;) {
    const page = await deps.readPage(query, afterPosition);
    const isOver = deps.clock.monotonic() >= deadline || deps.closing.aborted;
    if (page.events.length > 0 || isOver) return page;
    const [position] = CURSOR.decode(page.nextCursor);
    afterPosition = await waitForLater(deps, query, { position, deadline });
  }
}

/**
 * Waits until there may be an event of the query after the position. Returns a position up to which there is none. The cached
 * position is enough for the first check only.
 */
async function waitForLater(
  { lastPosition, newEvents, ...deps }: SharedDeps,
  query: EventsQuery,
  { position, deadline }: { readonly position: number; readonly deadline: number },
): Promise<number> {
  const isFiltered = [query.room, query.rooms, query.types].some((filter) => filter !== undefined);
  let known = lastPosition.known;
  let passed = position;
  const hasChanged = async (): Promise<boolean> => {
    const last = known ?? (await lastPosition.recent());
    known = undefined;
    if (last <= passed) return false;
    if (!isFiltered) return true;
    const later = await newEvents.after(passed, last);
    if (later === undefined || later.some((event) => isAskedFor(event, query))) return true;
    passed = last;
    return false;
  };
  await waitForChange(deps, { topic: 'events', deadline, hasChanged });
  return passed;
}

/** Also true for some events that the query leaves out: they are read. */
function isAskedFor({ room, type }: NewEvent, query: EventsQuery): boolean {
  if (query.room !== undefined && room !== query.room) return false;
  if (query.types?.some((asked) => asked === type) === false) return false;
  return query.rooms?.some((prefix) => room?.startsWith(prefix)) !== false;
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
  throw refusedParameter(
    'cursor',
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

type NewEvent = Pick<StoredEvent, 'position' | 'room' | 'type'>;

/** As many new events are read at once, and known. */
const KNOWN_EVENTS = 500;

/**
 * The newest events, which are read once for all readers that wait: each of a thousand readers of different rooms would
 * otherwise read the database at every event.
 */
class NewEvents {
  readonly #events: EventStores['events'];
  readonly #reads: SharedReads<void>;
  /** Every event after `#from` and up to `#to`, in the order of their positions. */
  #known: readonly NewEvent[] = [];
  #from = Number.POSITIVE_INFINITY;
  #to = 0;

  constructor({ changes, events }: { readonly changes: ChangeFeed } & Pick<EventStores, 'events'>) {
    this.#events = events;
    this.#reads = new SharedReads(changes);
  }

  /** Returns the events after the position and up to the last one; undefined when they are too many to be known. */
  async after(position: number, last: number): Promise<readonly NewEvent[] | undefined> {
    if (this.#to < last) await this.#reads.get('new', () => this.#read(position, last));
    if (position < this.#from || this.#to < last) return undefined;
    return this.#known.filter((event) => event.position > position);
  }

  async #read(position: number, last: number): Promise<void> {
    const begunAt = this.#to;
    const afterPosition = begunAt === 0 ? position : begunAt;
    const read = await this.#events.list({ afterPosition, limit: KNOWN_EVENTS, types: EVENT_TYPES });
    // A later read has ended before.
    if (this.#to !== begunAt) return;
    if (read.length === KNOWN_EVENTS) {
      // They begin anew at the end.
      [this.#known, this.#from, this.#to] = [[], last, last];
      return;
    }
    const added = read.map(({ position, room, type }): NewEvent => ({ position, room, type }));
    const all = [...this.#known, ...added];
    const forgotten = all.at(-KNOWN_EVENTS - 1)?.position;
    this.#known = all.slice(-KNOWN_EVENTS);
    this.#from = forgotten ?? Math.min(this.#from, afterPosition);
    this.#to = Math.max(last, added.at(-1)?.position ?? 0);
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
