import { sql } from 'kysely';
import type { KeyQuota } from '../../platform/http/limits/key-limits.ts';
import { sanitizeText } from '../../platform/storage/statements.ts';
import { createPlanStore } from '../../rooms/plans/plans.sql.ts';
import { readPlans } from '../../rooms/plans/plans.ts';
import { createRoomRecordStore } from '../../rooms/room-records.sql.ts';
import type { Connection } from '../../schema/tables.ts';

/*
 * Names and terms that are likely to be said in a room. They are stored by the room's name, so that they outlive a session.
 */

type Vocabulary = { readonly room: string; readonly terms: readonly string[] };

export interface VocabularyStore {
  /** Returns an empty list when the room has none. */
  find(room: string): Promise<readonly string[]>;
  /** Returns the terms of the room, or of its plan if the room has no terms of its own. */
  findOrPlanned(room: string): Promise<readonly string[]>;
  /**
   * Replaces the terms of the room, which remain with the key that gave them first. Returns false, and changes nothing, when
   * the room has none and the key has given terms to as many rooms as it may.
   */
  save(vocabulary: Vocabulary, quota: KeyQuota): Promise<boolean>;
  /** Counts the rooms to which the key has given terms. */
  countOfKey(keyId: string): Promise<number>;
  delete(room: string): Promise<void>;
}

export interface VocabularyStores {
  readonly vocabularies: VocabularyStore;
}

export function createVocabularyStore(connection: Connection): VocabularyStore {
  const { db, dialect, atomically } = connection;
  return {
    find: async (room) => {
      const found = db.selectFrom('vocabularies').select('terms').where('room', '=', sanitizeText(room));
      const row = await found.executeTakeFirst();
      const terms: unknown = JSON.parse(row?.terms ?? '[]');
      return Array.isArray(terms) ? terms.map(String) : [];
    },
    findOrPlanned: async (name) => {
      const room = sanitizeText(name);
      const own = await db
        .selectFrom('vocabularies')
        .select('terms')
        .where('room', '=', room)
        .executeTakeFirst();
      if (own !== undefined) return JSON.parse(own.terms);
      const stores = { plans: createPlanStore(connection), rooms: createRoomRecordStore(connection) };
      // Settings that have expired count until they are deleted, which is soon.
      return (await readPlans(stores, [room], 0)).get(room)?.vocabulary ?? [];
    },
    save: ({ room, terms }, quota) => {
      const row = { room: sanitizeText(room), terms: JSON.stringify(terms.map(sanitizeText)) };
      return atomically((within) => saveBelow({ db: within, dialect }, row, quota));
    },
    countOfKey: async (keyId) => {
      const { rows } = await sql<{ count: number }>`select ${countOfKey(keyId)} as count`.execute(db);
      return rows[0]?.count ?? 0;
    },
    delete: async (room) => {
      await db.deleteFrom('vocabularies').where('room', '=', sanitizeText(room)).execute();
    },
  };
}

/** Instances that save for the same key at once would all see one place left: they take turns. */
async function saveBelow(
  { db, dialect }: Pick<Connection, 'db' | 'dialect'>,
  { room, terms }: Readonly<Record<'room' | 'terms', string>>,
  { keyId, limit }: KeyQuota,
): Promise<boolean> {
  await dialect.lockName(db, `vocabularies of ${keyId}`);
  const { rows } = await sql`
    insert into vocabularies (room, terms, "createdBy")
    select room, terms, "createdBy"
    from ${dialect.rows([{ room, terms, createdBy: keyId }], { room: 'text', terms: 'text', createdBy: 'text' })} as listed
    where exists (select 1 from vocabularies where room = ${room}) or ${countOfKey(keyId)} < ${limit}
    on conflict (room) do update set terms = excluded.terms
    returning room`.execute(db);
  return rows.length > 0;
}

function countOfKey(keyId: string) {
  return sql<number>`(select count(*) from vocabularies where "createdBy" = ${keyId})`;
}
