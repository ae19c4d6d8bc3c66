import { sql } from 'kysely';
import { purgeRows, sanitizeText } from '../platform/storage/statements.ts';
import type { Connection } from '../schema/tables.ts';
import type { EntryDecision, EntryDecisionStore } from './store.ts';

const COLUMNS = [
  'waitingId',
  'room',
  'identity',
  'outcome',
  'person',
  'decidedAt',
  'keptUntil',
] as const satisfies readonly (keyof EntryDecision)[];

/** Decisions about people who wait for a room with a lobby. */
export function createEntryDecisionStore({ db, dialect, atomically }: Connection): EntryDecisionStore {
  const rows = (from = db) => from.selectFrom('entryDecisions').select(COLUMNS);
  return {
    decide: (decision) =>
      atomically(async (within) => {
        const { numInsertedOrUpdatedRows = 0n } = await within
          .insertInto('entryDecisions')
          .values(decision)
          .onConflict((conflict) => conflict.column('waitingId').doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows > 0n) return { decision, isNew: true };
        const former = rows(within).where('waitingId', '=', decision.waitingId);
        return { decision: await former.executeTakeFirstOrThrow(), isNew: false };
      }),
    findAll: (waitingIds) =>
      rows()
        .where(sql<boolean>`"waitingId" ${dialect.oneOf(waitingIds)}`)
        .execute(),
    findLast: ({ room, identity }, now) =>
      rows()
        .where('identity', '=', identity)
        .where('room', '=', room)
        .where('keptUntil', '>', now)
        .orderBy('decidedAt', 'desc')
        .limit(1)
        .executeTakeFirst(),
    extend: async (waitingId, keptUntil) => {
      const update = db.updateTable('entryDecisions').set({ keptUntil });
      await update.where('waitingId', '=', waitingId).where('keptUntil', '<', keptUntil).execute();
    },
    forget: async ({ room, identity }) => {
      // Whoever erases a person may give any text; the other texts come from tokens.
      const all = db.deleteFrom('entryDecisions').where('identity', '=', sanitizeText(identity));
      await (room === undefined ? all : all.where('room', '=', sanitizeText(room))).execute();
    },
    purge: (before, limit) => {
      const where = sql`"keptUntil" < ${before}`;
      return purgeRows(db, { table: 'entryDecisions', key: ['waitingId'], where, limit });
    },
  };
}
