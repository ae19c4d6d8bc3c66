import type { DatabaseSync } from 'node:sqlite';
import { indexedTerms } from '../search/search-terms.ts';

/** Adds the functions that the triggers of the schema call. Every connection that writes segments needs them. */
export function addFunctions(database: DatabaseSync): void {
  database.function('indexedTerms', { deterministic: true }, (text, language, room, startedAt) =>
    indexedTerms({
      ...{ text: String(text), language: String(language), room: String(room ?? '') },
      startedAt: Number(startedAt),
    }).join(' '),
  );
}
