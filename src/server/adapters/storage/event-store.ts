import { type RawBuilder, sql } from 'kysely';
import type { EventQuery, EventStore, NewEvent, StoredEvent } from '../../ports/event-store.ts';
import type { Connection } from './engine.ts';
import { storableText } from './storable-text.ts';

/** Instances whose clocks are further apart than this could not sign requests either. */
const CLOCKS_APART_MS = 300_000;

export function createEventStore(connection: Connection): EventStore {
  const { db } = connection;
  return {
    insert: (event) => insertEvent(connection, event),
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
function insertEvent({ atomically }: Connection, event: NewEvent): Promise<StoredEvent | undefined> {
  return atomically(async (db) => {
    const counted = await sql<{ value: number }>`
      update counters set value = value + 1
      where name = 'events' and not exists (select 1 from events where "sourceId" = ${event.sourceId})
      returning value`.execute(db);
    const position = counted.rows[0]?.value;
    if (position === undefined) return undefined;
    return db
      .insertInto('events')
      .values({ ...event, room: event.room && storableText(event.room), position })
      .onConflict((conflict) => conflict.column('sourceId').doNothing())
      .returningAll()
      .executeTakeFirst();
  });
}

async function listEvents(connection: Connection, query: EventQuery): Promise<readonly StoredEvent[]> {
  const { room, types, since, limit } = query;
  const after = Math.max(query.afterPosition, await positionBefore(connection, since));
  const conditions = [sql`position > ${after}`];
  if (since !== undefined) conditions.push(sql`"createdAt" >= ${since}`);
  if (room !== undefined) conditions.push(sql`room = ${storableText(room)}`);
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
function purgeEvents({ atomically, forms }: Connection, before: number, limit: number): Promise<number> {
  const isUnneeded = sql`not exists (
    select 1 from deliveries where "eventId" = events.id and state = 'pending'
  )`;
  return atomically(async (db) => {
    const chosen = await sql<{ position: number }>`
      select position from events where "createdAt" < ${before} and ${isUnneeded}
      order by "createdAt" limit ${limit} ${forms.lockFreeRows}`.execute(db);
    const positions = chosen.rows.map((row) => row.position);
    if (positions.length === 0) return 0;
    const deleted = await sql`
      delete from events where position ${forms.oneOf(positions)} and ${isUnneeded}`.execute(db);
    return Number(deleted.numAffectedRows ?? 0);
  });
}
