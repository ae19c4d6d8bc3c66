import { sanitizeText } from '../../platform/storage/statements.ts';
import type { Connection } from '../../schema/tables.ts';

export function createVocabularyStore({ db }: Pick<Connection, 'db'>): VocabularyStore {
  return {
    find: async (room) => {
      const found = db.selectFrom('vocabularies').select('terms').where('room', '=', sanitizeText(room));
      const row = await found.executeTakeFirst();
      const terms: unknown = JSON.parse(row?.terms ?? '[]');
      return Array.isArray(terms) ? terms.map(String) : [];
    },
    save: async (room, list) => {
      const terms = JSON.stringify(list.map(sanitizeText));
      await db
        .insertInto('vocabularies')
        .values({ room: sanitizeText(room), terms })
        .onConflict((conflict) => conflict.column('room').doUpdateSet({ terms }))
        .execute();
    },
    delete: async (room) => {
      await db.deleteFrom('vocabularies').where('room', '=', sanitizeText(room)).execute();
    },
  };
}

/*
 * Names and terms that are likely to be said in a room. They are stored by the room's name, so that they outlive a session.
 */

export interface VocabularyStore {
  /** Returns an empty list when the room has none. */
  find(room: string): Promise<readonly string[]>;
  /** Replaces the terms of the room. */
  save(room: string, terms: readonly string[]): Promise<void>;
  delete(room: string): Promise<void>;
}

export interface VocabularyStores {
  readonly vocabularies: VocabularyStore;
}
