import { type Kysely, type RawBuilder, sql } from 'kysely';
import { EVENT_TYPES } from '../../contract/event-names.ts';
import type { RoomPrefixes } from '../../contract/keys.ts';
import type { SqlDialect, Statement } from '../platform/storage/engine.ts';
import { beginsWith, columnList, sanitizeText, withinRooms } from '../platform/storage/statements.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import {
  type InsertedDelivery,
  insertDeliveries,
  insertOrdered,
  orderLocks,
  splitByOrder,
} from '../webhooks/delivery-rows.sql.ts';
import { insertParcel } from '../webhooks/parcels.sql.ts';
import type { NewDelivery, Parcel } from '../webhooks/store.ts';
import type { EventQuery, EventStore, FanOutStore, LeftOut, NewEvent, StoredEvent } from './store.ts';

/**
 * Maximum difference between the clocks of instances. Synchronised clocks differ by much less, so that a list since an
 * instant misses no event.
 */
const CLOCKS_APART_MS = 60_000;

const COLUMN_TYPES = {
  id: 'text',
  sourceId: 'text',
  type: 'text',
  room: 'text',
  roomSid: 'text',
  sequence: 'integer',
  payload: 'text',
  occurredAt: 'integer',
  createdAt: 'integer',
  traceparent: 'text',
} as const;
const EVENT_COLUMNS = Object.keys(COLUMN_TYPES) as (keyof typeof COLUMN_TYPES)[];
const columns = columnList(EVENT_COLUMNS);

/** The name of the statement that inserts events on PostgreSQL begins with this. */
export const INSERT_EVENTS = 'insert-events';

export function createEventStore(connection: Connection): EventStore {
  const { db } = connection;
  return {
    insertAll: (events, deliveries, parcel) => insertEvents(connection, events, { deliveries, parcel }),
    forgetSources: async (sourceIds) => {
      if (sourceIds.length === 0) return;
      const isOneOf = sql<boolean>`"sourceId" ${connection.dialect.oneOf(sourceIds)}`;
      await db.updateTable('events').set({ sourceId: sql<string>`id` }).where(isOneOf).execute();
    },
    findKnown: (sourceIds) => findKnown(db, connection.dialect, sourceIds),
    find: (id) => db.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst(),
    findAll: (ids) =>
      db
        .selectFrom('events')
        .selectAll()
        .where(sql<boolean>`id ${connection.dialect.oneOf(ids)}`)
        .execute(),
    list: (query) => listEvents(connection, query),
    lastPosition: async () => {
      const counter = db.selectFrom('counters').select('value').where('name', '=', 'events');
      return (await counter.executeTakeFirstOrThrow()).value;
    },
    purge: (before, limit) => purgeEvents(connection, before, limit),
    readPurgeTimes: async () => {
      const counter = db.selectFrom('counters').select('value').where('name', '=', 'purgedAt');
      const newest = db.selectFrom('events').select('createdAt').orderBy('position', 'desc').limit(1);
      return {
        purgedAt: (await counter.executeTakeFirst())?.value || undefined,
        newestAt: (await newest.executeTakeFirst())?.createdAt,
      };
    },
    notePurge: async (at) => {
      await db.updateTable('counters').set({ value: at }).where('name', '=', 'purgedAt').execute();
    },
  };
}

/**
 * The events and their deliveries are stored at the very end of the transaction. The counter's row is locked from the first
 * of these statements until the commit, which makes positions visible in their order. On PostgreSQL all of this happens in
 * the database server, so that an instance that stops in the middle of a transaction does not block others.
 *
 * An event that another transaction has stored in the meantime is left out with its deliveries, and its position stays
 * unused.
 */
async function insertEvents(
  { atomically, dialect, changes, runAtCommit }: Connection,
  events: readonly NewEvent[],
  { deliveries, parcel }: Planned,
): Promise<LeftOut> {
  const known = new Set(events.map(({ id }) => id));
  const waiting = new Set<string>();
  if (events.length === 0) return { known, waiting };
  const { ordered, unordered } = splitByOrder(deliveries);
  const insert = dialect.engine === 'SQLite' ? insertOnSqlite : insertOnPostgres;
  const insertOrderedOfStored = { sql: insertOrdered(dialect, ordered, isEventStored) };
  const statements: readonly Statement<InsertedDelivery>[] = [
    // These locks come before the lock of the counter, which orders all transactions of events.
    ...orderLocks(dialect, ordered),
    ...insert(dialect, events, { deliveries: unordered, parcel }),
    ...(ordered.length === 0 ? [] : [insertOrderedOfStored]),
  ];
  await atomically(async (db) => {
    await runAtCommit(db, statements, (rows) => {
      for (const { id, isWaiting } of rows) {
        known.delete(id);
        if (isWaiting === 1) waiting.add(id);
      }
    });
    changes.note(db, 'events');
  });
  return { known, waiting };
}

const isEventStored = sql`exists (select 1 from events where events.id = listed."eventId")`;

/** Deliveries with rows, and those in a parcel. */
type Planned = { readonly deliveries: readonly NewDelivery[]; readonly parcel: Parcel | undefined };

/** Statements that insert the events and their deliveries, and return the ids of the events that were stored. */
type InsertEvents = (
  dialect: SqlDialect,
  events: readonly NewEvent[],
  planned: Planned,
) => readonly Statement<{ id: string }>[];

const insertOnPostgres: InsertEvents = (dialect, events, { deliveries, parcel }) => {
  const before = sql`(select value from counter) - ${events.length}::bigint`;
  const isStored = sql`listed."eventId" in (select id from stored)`;
  const delivered =
    deliveries.length === 0
      ? sql``
      : sql`, delivered as (${insertDeliveries(dialect, deliveries, isStored)})`;
  const packed =
    parcel === undefined
      ? sql``
      : sql`, packed as (${insertParcel(parcel, sql`exists (select 1 from stored)`)})`;
  const text = sql<{ id: string }>`
    with counter as (
      update counters set value = value + ${events.length} where name = 'events' returning value
    ), stored as (${insertNumbered(dialect, events, before)} returning id)${delivered}${packed}
    select id from stored`;
  const parts = [deliveries.length === 0 ? '' : '-deliveries', parcel === undefined ? '' : '-parcel'];
  return [{ name: `${INSERT_EVENTS}${parts.join('')}`, sql: text }];
};

/** A statement that changes data cannot be part of another one. */
const insertOnSqlite: InsertEvents = (dialect, events, { deliveries, parcel }) => {
  const before = sql`(select value from counters where name = 'events') - ${events.length}`;
  return [
    { sql: sql`update counters set value = value + ${events.length} where name = 'events'` },
    { sql: sql`${insertNumbered(dialect, events, before)} returning id` },
    ...(deliveries.length === 0 ? [] : [{ sql: insertDeliveries(dialect, deliveries, isEventStored) }]),
    ...(parcel === undefined ? [] : [{ sql: insertParcel(parcel, sql`true`) }]),
  ];
};

/** Inserts the events at the positions that follow `before`. */
function insertNumbered(
  dialect: SqlDialect,
  events: readonly NewEvent[],
  before: RawBuilder<unknown>,
): RawBuilder<{ id: string }> {
  const numbered = events.map((event, index) => ({
    ...event,
    room: event.room && sanitizeText(event.room),
    number: index + 1,
  }));
  const rows = dialect.rows(numbered, { ...COLUMN_TYPES, number: 'integer' });
  // With `where true` SQLite does not take the following `on` for a condition of a join.
  return sql`
    insert into events (position, ${columns}) select ${before} + number, ${columns} from ${rows} as listed
    where true on conflict ("sourceId") do nothing`;
}

async function findKnown(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  sourceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ sourceId: string }>`
    select "sourceId" from events where "sourceId" ${dialect.oneOf(sourceIds)}`.execute(db);
  return new Set(rows.map((row) => row.sourceId));
}

/**
 * There are three ways to find a page: along the log (`position`), by one scan of the index for each type, or, for a key of some
 * rooms, along the log for a while and then by the index of rooms.
 */
async function listEvents(connection: Connection, query: EventQuery): Promise<readonly StoredEvent[]> {
  const { room, rooms, types, since, limit } = query;
  if (types?.length === 0) return [];
  const isEvery = types === undefined || types.length >= EVENT_TYPES.length;
  // The sign keeps SQLite, which has no figures about the types, from the index of types.
  const type = connection.dialect.engine === 'SQLite' ? sql`+type` : sql`type`;
  const isOfTypes = types === undefined ? undefined : sql<boolean>`${type} in (${sql.join(types)})`;
  const listed = { table: 'events', key: 'position', room: 'room', also: isEvery ? undefined : isOfTypes };
  const within = rooms === undefined ? undefined : await withinRooms(connection, listed, rooms);
  const filters: RawBuilder<unknown>[] = [];
  if (since !== undefined) filters.push(sql`"createdAt" >= ${since}`);
  if (room !== undefined) filters.push(sql`room = ${sanitizeText(room)}`);
  const conditions = within === undefined ? filters : [...filters, within.condition];
  const after = Math.max(query.afterPosition, await positionBefore(connection, since));
  const isFew = room !== undefined || within?.isFew === true;
  const selection = { isFew, isEvery, types, limit, after, before: query.beforePosition };
  if (rooms !== undefined && isEvery && !isFew) {
    const others = isOfTypes === undefined ? filters : [...filters, isOfTypes];
    return listOfMany(connection, { conditions, others, rooms }, selection);
  }
  const { rows } = await select(connection.dialect, conditions, selection).execute(connection.db);
  return rows;
}

type OwnEvents = {
  /** The conditions of the events that are looked for in the log. */
  readonly conditions: readonly RawBuilder<unknown>[];
  /** All conditions except the one about rooms. */
  readonly others: readonly RawBuilder<unknown>[];
  readonly rooms: RoomPrefixes;
};

/** Events that are walked through for each event of the page, before the events of a key with many are found by their rooms. */
const MOST_WALKED = 40;

/**
 * The events of a key that has many are met soon on the way through the log, unless they are all far from where it begins.
 * Then the index of rooms has their positions, of which the next are read.
 */
async function listOfMany(
  { db, dialect }: Connection,
  { conditions, others, rooms }: OwnEvents,
  selection: Selection,
): Promise<readonly StoredEvent[]> {
  const { after, before, limit } = selection;
  const inRange = (position: RawBuilder<unknown>) =>
    sql`${position} > ${after} and ${position} < ${before ?? Number.MAX_SAFE_INTEGER}`;
  const edge = (of: RawBuilder<unknown>) => sql`(select ${of} from events where ${inRange(sql`position`)})`;
  const { rows } = await sql<Edges>`
    select ${edge(sql`min(position)`)} as first, ${edge(sql`max(position)`)} as last`.execute(db);
  const [{ first, last } = { first: null, last: null }] = rows;
  if (first === null || last === null) return [];
  const walked = limit * MOST_WALKED;
  const isNear =
    before === undefined
      ? sql`position < ${Number(first) + walked}`
      : sql`position > ${Number(last) - walked}`;
  const near = await select(dialect, [...conditions, isNear], selection).execute(db);
  if (near.rows.length === limit || last - first < walked) return near.rows;
  // The sign keeps the engines from the index of positions, and the list by itself from its order.
  const next = sql`
    with own as materialized (
      select position from events
      where ${sql.join([inRange(sql`+position`), beginsWith(sql`room`, rooms), ...others], sql` and `)}
    ) select position from own order by position ${before === undefined ? sql`asc` : sql`desc`} limit ${limit}`;
  const isNext =
    dialect.engine === 'SQLite' ? sql`position in (${next})` : sql`position = any(array(${next}))`;
  return (await select(dialect, [isNext], selection).execute(db)).rows;
}

type Edges = { readonly first: number | null; readonly last: number | null };

type Selection = Pick<EventQuery, 'types' | 'limit'> & {
  /** Whether other conditions leave so few events that reading and skipping other types is cheap. */
  readonly isFew: boolean;
  /** Whether every type is wanted. */
  readonly isEvery: boolean;
  readonly after: number;
  readonly before: number | undefined;
};

function select(
  { engine }: SqlDialect,
  conditions: readonly RawBuilder<unknown>[],
  { isFew, isEvery, types, limit, after, before }: Selection,
): RawBuilder<StoredEvent> {
  const isNewestFirst = before !== undefined;
  const direction = isNewestFirst ? sql`desc` : sql`asc`;
  const all = isNewestFirst ? [sql`position < ${before}`, ...conditions] : conditions;
  const where = (more: readonly RawBuilder<unknown>[]) => sql.join([...more, ...all], sql` and `);
  const page = (more: readonly RawBuilder<unknown>[]) => sql<StoredEvent>`
    select * from events where ${where([sql`position > ${after}`, ...more])}
    order by position ${direction} limit ${limit}`;
  if (types === undefined) return page([]);
  // Few events are skipped also if every type is wanted.
  if (isFew || isEvery) return page([sql`type in (${sql.join(types)})`]);
  // Scans the index once for each type, because no engine merges the scans of an `in`. An equality would let PostgreSQL walk
  // the positions instead, which takes long where a stretch of the log has no event of the type. Of (type, position)
  // SQLite would use the type alone, and begin at its first event.
  const pages = types.map((type) => {
    const isNext =
      engine === 'SQLite'
        ? where([sql`type = ${type}`, sql`position > ${after}`])
        : where(betweenOnPostgres(type, after, before));
    return sql`
      select * from (
        select * from events where ${isNext} order by type ${direction}, position ${direction} limit ${limit}
      ) as one_type`;
  });
  return sql`${sql.join(pages, sql` union all `)} order by position ${direction} limit ${limit}`;
}

/** The events of one type between two positions, as ranges of the pair that its index has. */
function betweenOnPostgres(
  type: string,
  after: number,
  before: number | undefined,
): readonly RawBuilder<unknown>[] {
  const isAfter = sql`(type, position) > (${type}, ${after})`;
  return [
    isAfter,
    before === undefined ? sql`type <= ${type}` : sql`(type, position) < (${type}, ${before})`,
  ];
}

/**
 * Returns a position up to which all events were created before `since`. Positions ascend with the instants, except for
 * differences between the clocks of instances. Therefore the result is the least position of CLOCKS_APART_MS, not the
 * position of the first event.
 */
async function positionBefore({ db }: Connection, since: number | undefined): Promise<number> {
  if (since === undefined) return 0;
  const first = await db
    .selectFrom('events')
    .select('createdAt')
    .where('createdAt', '>=', since)
    .orderBy('createdAt')
    .limit(1)
    .executeTakeFirst();
  if (first === undefined) return Number.MAX_SAFE_INTEGER;
  // Without `materialized` PostgreSQL walks the positions from the first event on, of which a million may lie before.
  const { rows } = await sql<{ least: number }>`
    with soonest as materialized (
      select position from events where "createdAt" between ${first.createdAt} and ${first.createdAt + CLOCKS_APART_MS}
    )
    select min(position) as least from soonest`.execute(db);
  return Number(rows[0]?.least ?? 0) - 1;
}

/**
 * Checks for pending deliveries again after the lock, because a delivery may have been replayed since its event was chosen.
 * A delivery is created at the instant of its event: those that need an old event are found by the index of the lists of
 * pending ones, webhook by webhook, and are few. An index by event would cost two more writes for every delivery.
 * Parcels are as old only where no instance has run in the meantime.
 */
function purgeEvents({ atomically, dialect }: Connection, before: number, limit: number): Promise<number> {
  const isUnneeded = sql`id not in (
    select "eventId" from deliveries
    where "webhookId" in (select id from webhooks) and state = 'pending' and "createdAt" < ${before}
    union all select "eventId" from "parcelledDeliveries" where "createdAt" < ${before}
  )`;
  return atomically(async (db) => {
    const chosen = await sql<{ position: number }>`
      select position from events where "createdAt" < ${before} and ${isUnneeded}
      order by "createdAt" limit ${limit} ${dialect.lockFreeRows}`.execute(db);
    const positions = chosen.rows.map((row) => row.position);
    if (positions.length === 0) return 0;
    const deleted = await sql`
      delete from events where position ${dialect.oneOf(positions)} and ${isUnneeded}`.execute(db);
    return Number(deleted.numAffectedRows ?? 0);
  });
}

/** Lock that serialises the fan-out transactions of all instances. */
const LOCK = 'fan-outs';

export function createFanOutStore({ db, dialect, changes }: Connection): FanOutStore {
  return {
    isAnyOpen: async () =>
      (await db.selectFrom('fanOuts').select('eventId').limit(1).executeTakeFirst()) !== undefined,
    lockNext: async (limit) => {
      await dialect.lockName(db, LOCK);
      const next = db
        .selectFrom('fanOuts')
        .leftJoin('events', 'events.id', 'fanOuts.eventId')
        .selectAll('fanOuts')
        .orderBy(sql`coalesce(position, 0)`)
        .orderBy('fanOuts.eventId');
      return await next.limit(limit).execute();
    },
    insert: async (fanOuts) => {
      if (fanOuts.length === 0) return;
      await db.insertInto('fanOuts').values(fanOuts).execute();
      changes.note(db, 'fanOuts');
    },
    advance: async ({ eventId, afterCreatedAt, afterId }) => {
      const place = { afterCreatedAt, afterId };
      await db.updateTable('fanOuts').set(place).where('eventId', '=', eventId).execute();
    },
    delete: async (eventIds) => {
      if (eventIds.length === 0) return;
      await sql`delete from ${sql.table('fanOuts')} where "eventId" ${dialect.oneOf(eventIds)}`.execute(db);
    },
  };
}
