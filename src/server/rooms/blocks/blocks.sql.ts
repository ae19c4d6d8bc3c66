import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { type KeyQuota, ROOT_QUOTA } from '../../platform/http/limits/key-limits.ts';
import { beginsWith, columnList, purgeRows } from '../../platform/storage/statements.ts';
import type { Connection, Tables } from '../../schema/tables.ts';
import { nextChange, readChanges } from '../room-records.sql.ts';
import type { Block, BlockQuery, BlockStore, BlockSubject, BlocksQuery } from '../store.ts';

type Database = Kysely<Tables>;

const COLUMNS = ['room', 'identity', 'createdAt', 'blockedUntil'] as const;

export function createBlockStore({ db, changes, dialect, atomically }: Connection): BlockStore {
  return {
    save: (block, quota = ROOT_QUOTA) =>
      atomically(async (within) => {
        const isSaved = await saveBelow({ db: within, dialect }, block, quota);
        if (isSaved) changes.note(within, 'blocks');
        return isSaved;
      }),
    countOfKey: async (keyId, now) => {
      const { rows } = await sql<{ count: number }>`select ${countOfKey(keyId, now)} as count`.execute(db);
      return Number(rows[0]?.count);
    },
    find: (subject, now) =>
      db
        .selectFrom('blocks')
        .select(COLUMNS)
        .where('room', '=', subject.room)
        .where('identity', '=', subject.identity)
        .where(lastsAt(now))
        .executeTakeFirst(),
    listLasting: (query) => listLasting(db, query),
    listOfRooms: (query) => listLasting(db, query),
    ...readChanges(db, 'blocks', COLUMNS),
    list: (query) => listBlocks(db, query),
    // The row stays for a while, so that other instances see that it ended, long ago by any clock.
    delete: (subject, now) =>
      atomically(async (within) => {
        const changeNumber = await nextChange(within, 'blocks');
        const { numUpdatedRows } = await within
          .updateTable('blocks')
          .set({ createdAt: now, blockedUntil: 0, changeNumber })
          .where('room', '=', subject.room)
          .where('identity', '=', subject.identity)
          .where(lastsAt(now))
          .executeTakeFirst();
        if (numUpdatedRows > 0n) changes.note(within, 'blocks');
        return numUpdatedRows > 0n;
      }),
    listPresent: (now) => listPresent(db, now),
    purge: (before, limit) => {
      const where = sql`"blockedUntil" <= ${before} and "createdAt" <= ${before}`;
      return purgeRows(db, { table: 'blocks', key: ['room', 'identity'], where, by: 'blockedUntil', limit });
    },
  };
}

const ROW = {
  room: 'text',
  identity: 'text',
  createdAt: 'integer',
  blockedUntil: 'integer',
  changeNumber: 'integer',
  createdBy: 'text',
} as const satisfies Record<keyof Tables['blocks'], 'text' | 'integer'>;

/** The lock of nextChange also lets instances count one after the other. */
async function saveBelow(
  { db, dialect }: Pick<Connection, 'db' | 'dialect'>,
  block: Block,
  { keyId, limit }: KeyQuota,
): Promise<boolean> {
  const { room, identity, createdAt, blockedUntil } = block;
  const changeNumber = await nextChange(db, 'blocks');
  const row = { room, identity, createdAt, blockedUntil, changeNumber, createdBy: keyId };
  const columns = columnList(Object.keys(ROW));
  const lasts = sql`(blocks."blockedUntil" is null or blocks."blockedUntil" > ${createdAt})`;
  const { rows } = await sql`
    insert into blocks (${columns}) select ${columns} from ${dialect.rows([row], ROW)} as listed
    where exists (select 1 from blocks where room = ${room} and identity = ${identity} and ${lasts})
      or ${countOfKey(keyId, createdAt)} < ${limit}
    on conflict (room, identity) do update set "createdAt" = excluded."createdAt",
      "blockedUntil" = excluded."blockedUntil", "changeNumber" = excluded."changeNumber",
      "createdBy" = case when ${lasts} then blocks."createdBy" else excluded."createdBy" end
    returning room`.execute(db);
  return rows.length > 0;
}

/** Two counts, because each reads one range of the index. */
function countOfKey(keyId: string, now: number) {
  const ofKey = sql`select count(*) from blocks where "createdBy" = ${keyId}`;
  return sql<number>`((${ofKey} and "blockedUntil" is null) + (${ofKey} and "blockedUntil" > ${now}))`;
}

function listLasting(db: Database, { now, after, limit, rooms }: BlocksQuery): Promise<readonly Block[]> {
  let select = db.selectFrom('blocks').select(COLUMNS).where(lastsAt(now));
  if (rooms !== undefined) select = select.where(beginsWith(sql`room`, rooms));
  if (after !== undefined)
    select = select.where(sql<boolean>`(room, identity) > (${after.room}, ${after.identity})`);
  return select.orderBy('room').orderBy('identity').limit(limit).execute();
}

function lastsAt(now: number) {
  return (row: ExpressionBuilder<Tables, 'blocks'>) =>
    row.or([row('blockedUntil', 'is', null), row('blockedUntil', '>', now)]);
}

function listBlocks(db: Database, { room, now, after, limit }: BlockQuery): Promise<readonly Block[]> {
  let select = db.selectFrom('blocks').select(COLUMNS).where('room', '=', room).where(lastsAt(now));
  if (after !== undefined) select = select.where('identity', '>', after);
  return select.orderBy('identity').limit(limit).execute();
}

/** Starts with the open rooms, of which there are fewer than of permanent blocks. */
function listPresent(db: Database, now: number): Promise<readonly BlockSubject[]> {
  return db
    .selectFrom('roomSessions')
    .innerJoin('participantSessions', 'participantSessions.roomSid', 'roomSessions.sid')
    .innerJoin('blocks', (join) =>
      join
        .onRef('blocks.room', '=', 'roomSessions.name')
        .onRef('blocks.identity', '=', 'participantSessions.identity'),
    )
    .where('roomSessions.endedAt', 'is', null)
    .where('participantSessions.joinedAt', 'is not', null)
    .where('participantSessions.leftAt', 'is', null)
    .where('participantSessions.countsAs', 'in', ['participant', 'blocked'])
    .where((row) => row.or([row('blocks.blockedUntil', 'is', null), row('blocks.blockedUntil', '>', now)]))
    .select(['blocks.room', 'blocks.identity'])
    .distinct()
    .execute();
}
