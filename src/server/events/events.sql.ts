import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Connection, SqlDialect } from '../platform/storage/engine.ts';
import { sanitizeText } from '../platform/storage/sanitize-text.ts';
import type { Tables } from '../platform/storage/schema/tables.ts';
import type { EventQuery, EventStore, NewEvent, StoredEvent } from './store.ts';

/** Clocks of servers that are kept in time are much closer; a reader may then miss nothing by asking since an instant. */
const CLOCKS_APART_MS = 60_000;

const EVENT_TYPES = {
  position: 'integer',
  id: 'text',
  sourceId: 'text',
  type: 'text',
  room: 'text',
  roomSid: 'text',
  sequence: 'integer',
  payload: 'text',
  occurredAt: 'integer',
  createdAt: 'integer',
} as const;
const EVENT_COLUMNS = Object.keys(EVENT_TYPES) as (keyof typeof EVENT_TYPES)[];
const columns = sql.join(EVENT_COLUMNS.map((column) => sql.ref(column)));

export function createEventStore(connection: Connection): EventStore {
  const { db } = connection;
  return {
    insert: (event) => insertEvent(connection, event),
    insertAll: (events) => insertEvents(connection, events),
    findKnown: (sourceIds) => findKnown(db, connection.dialect, sourceIds),
    find: (id) => db.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst(),
    list: (query) => listEvents(connection, query),
    lastPosition: async () => {
      const counter = db.selectFrom('counters').select('value').where('name', '=', 'events');
      return (await counter.executeTakeFirstOrThrow()).value;
    },
    purge: (before, limit) => purgeEvents(connection, before, limit),
  };
}

/**
 * The counter's row is locked until the transaction ends, so that positions become visible in their order. A known
 * event does not touch it; one that becomes known at this very moment leaves its number unused.
 */
function insertEvent(
  { atomically, dialect, changes }: Connection,
  event: NewEvent,
): Promise<StoredEvent | undefined> {
  return atomically(async (db) => {
    const counted = await sql<{ value: number }>`
      update counters set value = value + 1
      where name = 'events' and not exists (select 1 from events where "sourceId" = ${event.sourceId})
      returning value`.execute(db);
    const position = counted.rows[0]?.value;
    if (position === undefined) return undefined;
    const stored = { ...event, room: event.room && sanitizeText(event.room), position };
    const { rows } = await sql`
      insert into events (${columns})
      values (${sql.join(EVENT_COLUMNS.map((column) => stored[column]))})
      on conflict ("sourceId") do nothing returning position, ${dialect.notification('events')}`.execute(db);
    if (rows.length === 0) return undefined;
    changes.note(db, 'events');
    return stored;
  });
}

/** The same in three statements, however many events there are. */
function insertEvents(
  { atomically, dialect, changes }: Connection,
  events: readonly NewEvent[],
): Promise<readonly StoredEvent[]> {
  return atomically(async (db) => {
    const known = await findKnown(db, dialect, [...new Set(events.map((event) => event.sourceId))]);
    const fresh = new Map<string, NewEvent>();
    for (const event of events) {
      if (!known.has(event.sourceId) && !fresh.has(event.sourceId)) fresh.set(event.sourceId, event);
    }
    if (fresh.size === 0) return [];
    const { value } = await db
      .updateTable('counters')
      .set((row) => ({ value: row('value', '+', fresh.size) }))
      .where('name', '=', 'events')
      .returning('value')
      .executeTakeFirstOrThrow();
    const stored = [...fresh.values()].map((event, index) => ({
      ...event,
      room: event.room && sanitizeText(event.room),
      position: value - fresh.size + index + 1,
    }));
    // `where true` tells SQLite that the `on` which follows belongs to no join.
    const inserted = await sql<{ position: number }>`
      insert into events (${columns}) select ${columns} from ${dialect.rows(stored, EVENT_TYPES)} as listed where true
      on conflict ("sourceId") do nothing returning position, ${dialect.notification('events')}`.execute(db);
    changes.note(db, 'events');
    const positions = new Set(inserted.rows.map((row) => row.position));
    return stored.filter(({ position }) => positions.has(position));
  });
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

async function listEvents(connection: Connection, query: EventQuery): Promise<readonly StoredEvent[]> {
  const { room, types, since, limit } = query;
  const after = Math.max(query.afterPosition, await positionBefore(connection, since));
  const conditions = [sql`position > ${after}`];
  if (since !== undefined) conditions.push(sql`"createdAt" >= ${since}`);
  if (room !== undefined) conditions.push(sql`room = ${sanitizeText(room)}`);
  const { rows } = await select(conditions, { room, types, limit }).execute(connection.db);
  return rows;
}

type Selection = Pick<EventQuery, 'room' | 'types' | 'limit'>;

function select(
  conditions: readonly RawBuilder<unknown>[],
  { room, types, limit }: Selection,
): RawBuilder<StoredEvent> {
  const where = (more: readonly RawBuilder<unknown>[]) => sql.join([...conditions, ...more], sql` and `);
  const page = (more: readonly RawBuilder<unknown>[]) =>
    sql<StoredEvent>`select * from events where ${where(more)} order by position limit ${limit}`;
  if (types === undefined) return page([]);
  if (types.length === 0) return sql`select * from events where 1 = 0`;
  if (room !== undefined) return page([sql`type in (${sql.join(types)})`]);
  // One walk along the index for each type: no engine merges them for an `in`.
  const pages = types.map((type) => sql`select * from (${page([sql`type = ${type}`])}) as one_type`);
  return sql`${sql.join(pages, sql` union all `)} order by position limit ${limit}`;
}

/**
 * A position that has only events created before `since` up to it. Positions and instants ascend together, but for
 * the clocks of several instances: hence the least position of a while, not the first event's.
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
  const { least } = await db
    .selectFrom('events')
    .select((events) => events.fn.min('position').as('least'))
    .where('createdAt', '>=', first.createdAt)
    .where('createdAt', '<=', first.createdAt + CLOCKS_APART_MS)
    .executeTakeFirstOrThrow();
  return Number(least) - 1;
}

/** Looked at twice: a delivery may have been replayed between the choice of its event and the lock. */
function purgeEvents({ atomically, dialect }: Connection, before: number, limit: number): Promise<number> {
  const isUnneeded = sql`not exists (
    select 1 from deliveries where "eventId" = events.id and state = 'pending'
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
