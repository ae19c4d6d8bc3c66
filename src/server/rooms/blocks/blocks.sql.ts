import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Connection, Tables } from '../../schema/tables.ts';
import type { Block, BlockQuery, BlockStore, BlockSubject } from '../store.ts';

type Database = Kysely<Tables>;

export function createBlockStore({ db, changes }: Pick<Connection, 'db' | 'changes'>): BlockStore {
  return {
    save: async (block) => {
      const { createdAt, blockedUntil } = block;
      await db
        .insertInto('blocks')
        .values(block)
        .onConflict((conflict) =>
          conflict.columns(['room', 'identity']).doUpdateSet({ createdAt, blockedUntil }),
        )
        .execute();
      changes.note(db, 'blocks');
    },
    find: (subject, now) =>
      db
        .selectFrom('blocks')
        .selectAll()
        .where('room', '=', subject.room)
        .where('identity', '=', subject.identity)
        .where(lastsAt(now))
        .executeTakeFirst(),
    listLasting: (now, limit) =>
      db.selectFrom('blocks').selectAll().where(lastsAt(now)).limit(limit).execute(),
    list: (query) => listBlocks(db, query),
    delete: async (subject, now) => {
      const { numDeletedRows } = await db
        .deleteFrom('blocks')
        .where('room', '=', subject.room)
        .where('identity', '=', subject.identity)
        .where(lastsAt(now))
        .executeTakeFirst();
      if (numDeletedRows > 0n) changes.note(db, 'blocks');
      return numDeletedRows > 0n;
    },
    listPresent: (now) => listPresent(db, now),
    purge: async (now, limit) => {
      const ended = db
        .selectFrom('blocks')
        .select(['room', 'identity'])
        .where('blockedUntil', '<=', now)
        .orderBy('blockedUntil')
        .limit(limit);
      const { numDeletedRows } = await db
        .deleteFrom('blocks')
        // Repeats the condition, so that a block that was renewed in the meantime is kept.
        .where('blockedUntil', '<=', now)
        .where(sql<boolean>`(room, identity) in (${ended})`)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

function lastsAt(now: number) {
  return (row: ExpressionBuilder<Tables, 'blocks'>) =>
    row.or([row('blockedUntil', 'is', null), row('blockedUntil', '>', now)]);
}

function listBlocks(db: Database, { room, now, after, limit }: BlockQuery): Promise<readonly Block[]> {
  let select = db.selectFrom('blocks').selectAll().where('room', '=', room).where(lastsAt(now));
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
    .where('participantSessions.role', '=', 'participant')
    .where((row) => row.or([row('blocks.blockedUntil', 'is', null), row('blocks.blockedUntil', '>', now)]))
    .select(['blocks.room', 'blocks.identity'])
    .distinct()
    .execute();
}
