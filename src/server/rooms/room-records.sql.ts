import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { RowColumns, SqlDialect, Statement } from '../platform/storage/engine.ts';
import type { Numbered } from '../platform/storage/row-cache.ts';
import { beginsWith, columnList, purgeRows, sanitizeText } from '../platform/storage/statements.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import type { ClosedQuery, RoomRecord, RoomRecordStore } from './store.ts';

type Database = Kysely<Tables>;

const TYPES: Required<RowColumns<RoomRecord>> = {
  room: 'text',
  maxParticipants: 'integer',
  emptyTimeout: 'integer',
  departureTimeout: 'integer',
  metadata: 'text',
  plan: 'text',
  closedTo: 'text',
  closedAt: 'integer',
  closedUntil: 'integer',
  closedSid: 'text',
  keptUntil: 'integer',
};

const COLUMNS = Object.keys(TYPES) as (keyof RoomRecord)[];

export function createRoomRecordStore(connection: Connection): RoomRecordStore {
  const { db, dialect, changes, atomically, runAtCommit } = connection;
  const selectAmong = (rooms: readonly string[]) =>
    db
      .selectFrom('rooms')
      .select(COLUMNS)
      .where(sql<boolean>`room ${dialect.oneOf(rooms)}`);
  return {
    save: (...records) =>
      atomically(async (within) => {
        if (records.length === 0) return;
        // The counter is locked for as short as possible: rooms that end at once wait for each other.
        await runAtCommit(within, [raiseCounter('rooms', records.length), saveRecords(dialect, records)]);
        changes.note(within, 'rooms');
      }),
    find: ({ room }, now) =>
      db.selectFrom('rooms').select(COLUMNS).where('room', '=', room).where(lastsAt(now)).executeTakeFirst(),
    listLasting: ({ now, after, limit }) => {
      let select = db.selectFrom('rooms').select(COLUMNS).where(lastsAt(now));
      if (after !== undefined) select = select.where('room', '>', after.room);
      return select.orderBy('room').limit(limit).execute();
    },
    ...readChanges(db, 'rooms', COLUMNS),
    listClosed: (query) => listClosed(db, query),
    countClosed: (now, limit) => countClosed(db, now, limit),
    isAnyClosed: async (now) => {
      const closed = db.selectFrom('rooms').select('room').where('closedTo', 'is not', null);
      return (await closed.where(isClosedAt(now)).limit(1).executeTakeFirst()) !== undefined;
    },
    findAll: (rooms, now) => selectAmong(rooms).where(lastsAt(now)).execute(),
    findClosed: (rooms, now) =>
      selectAmong(rooms).where('closedTo', 'is not', null).where(isClosedAt(now)).execute(),
    purge: (before, limit) => purgeRecords(db, before, limit),
    trim: (kept, limit) => trimRecords(db, kept, limit),
  };
}

/** The statement follows raiseCounter in its transaction, which has counted each of the records. */
function saveRecords(dialect: SqlDialect, records: readonly RoomRecord[]): Statement<unknown> {
  const rows = records.map((record, index) => ({
    ...record,
    room: sanitizeText(record.room),
    metadata: record.metadata === null ? null : sanitizeText(record.metadata),
    later: records.length - 1 - index,
  }));
  const columns = columnList(COLUMNS);
  const [, ...changing] = COLUMNS;
  const changed = sql.join(changing.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`));
  return {
    name: 'save-room-records',
    // With `where true` SQLite does not take the following `on` for a condition of a join.
    sql: sql`
      insert into rooms (${columns}, "changeNumber")
      select ${columns}, (select value from counters where name = 'rooms') - later
      from ${dialect.rows(rows, { ...TYPES, later: 'integer' })} as listed where true
      on conflict (room) do update set ${changed}, "changeNumber" = excluded."changeNumber"`,
  };
}

/** Reads through the rooms that are closed to everyone only. */
function listClosed(db: Database, { now, after, limit, rooms }: ClosedQuery): Promise<readonly RoomRecord[]> {
  let select = db
    .selectFrom('rooms')
    .select(COLUMNS)
    .where('closedTo', 'is not', null)
    .where('closedTo', '=', 'everyone')
    .where(isClosedAt(now));
  if (after !== undefined) select = select.where('room', '>', after.room);
  if (rooms !== undefined) select = select.where(beginsWith(sql`room`, rooms));
  return select.orderBy('room').limit(limit).execute();
}

async function countClosed(db: Database, now: number, limit: number): Promise<number> {
  const closed = db
    .selectFrom('rooms')
    .select('room')
    .where('closedTo', 'is not', null)
    .where('closedTo', '=', 'everyone')
    .where(isClosedAt(now))
    .limit(limit);
  const { count } = await db
    .selectFrom(closed.as('closed'))
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

async function purgeRecords(db: Database, before: number, limit: number): Promise<number> {
  await forgetEnded(db, before, limit);
  const where = sql`"keptUntil" <= ${before}`;
  return await purgeRows(db, { table: 'rooms', key: ['room'], where, by: 'keptUntil', limit });
}

/** A closure that has ended means nothing. Without it, the index of closed rooms has those only that are closed. */
async function forgetEnded(db: Database, before: number, limit: number): Promise<void> {
  const ended = db
    .selectFrom('rooms')
    .select('room')
    .where('closedTo', 'is not', null)
    .where('closedUntil', '<=', before)
    .limit(limit);
  await db
    .updateTable('rooms')
    .set({ closedTo: null, closedAt: null, closedUntil: null, closedSid: null })
    .where('closedTo', 'is not', null)
    .where('closedUntil', '<=', before)
    .where('room', 'in', ended)
    .execute();
}

async function trimRecords(db: Database, kept: number, limit: number): Promise<number> {
  const last = await db
    .selectFrom('rooms')
    .select('keptUntil')
    .where('keptUntil', 'is not', null)
    .orderBy('keptUntil', 'desc')
    .offset(kept)
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return 0;
  const where = sql`"keptUntil" <= ${last.keptUntil} and "closedTo" is null`;
  return await purgeRows(db, { table: 'rooms', key: ['room'], where, by: 'keptUntil', limit });
}

function lastsAt(now: number) {
  return (row: ExpressionBuilder<Tables, 'rooms'>) =>
    row.or([row('keptUntil', 'is', null), row('keptUntil', '>', now)]);
}

function isClosedAt(now: number) {
  return (row: ExpressionBuilder<Tables, 'rooms'>) =>
    row.or([row('closedUntil', 'is', null), row('closedUntil', '>', now)]);
}

type ChangeCounter = 'blocks' | 'plans' | 'rooms';

/** The counter is locked until the commit, so that nobody sees a later change without the earlier ones. */
function raiseCounter(counter: ChangeCounter, by = 1): Statement<{ readonly value: number }> {
  return {
    name: 'raise-counter',
    sql: sql`update counters set value = value + ${by} where name = ${counter} returning value`,
  };
}

export async function nextChange(db: Database, counter: ChangeCounter): Promise<number> {
  const [next] = (await raiseCounter(counter).sql.execute(db)).rows;
  if (next === undefined) throw new Error(`the counter of ${counter} is missing`);
  return next.value;
}

/** Reads the changes of a table whose rows are numbered by the counter of its name. */
export function readChanges<Table extends ChangeCounter, Column extends keyof Tables[Table] & string>(
  db: Database,
  table: Table,
  columns: readonly Column[],
) {
  return {
    lastChange: async (): Promise<number> => {
      const counter = db.selectFrom('counters').select('value').where('name', '=', table);
      return (await counter.executeTakeFirstOrThrow()).value;
    },
    listChanged: async (after: number, limit: number) => {
      const { rows } = await sql<Numbered<Pick<Tables[Table], Column>>>`
        select ${columnList([...columns, 'changeNumber'])} from ${sql.table(table)}
        where "changeNumber" > ${after} order by "changeNumber" limit ${limit}`.execute(db);
      return rows;
    },
  };
}
