import type { DatabaseSync } from 'node:sqlite';
import { indexedTerms } from '../search/search-terms.ts';

/** Adds the functions that the triggers of the schema call. Every connection that writes segments needs them. */
export function addFunctions(database: DatabaseSync): void {
  database.function('indexedTerms', { deterministic: true }, (text, language) =>
    indexedTerms(String(text), String(language)).join(' '),
  );
}
