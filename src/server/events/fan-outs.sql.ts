import { sql } from 'kysely';
import type { Connection } from '../platform/storage/engine.ts';
import type { FanOutStore } from './store.ts';

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
