import { type RawBuilder, sql } from 'kysely';

/**
 * The names of columns as a list for a statement. They come from the code, never from a request. The list is one piece of
 * text, because Kysely builds and compiles references name by name, which takes much memory.
 */
export function columnList(names: readonly string[]): RawBuilder<unknown> {
  return sql.raw(`"${names.join('", "')}"`);
}

/**
 * Replaces NUL and unpaired surrogates, which PostgreSQL cannot store, by U+FFFD. Receivers and clients may send either, and
 * one such text would make the whole statement fail.
 */
export function sanitizeText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
