import { type RawBuilder, sql, type Transaction } from 'kysely';

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

/** Runs `work` in a savepoint of the transaction. If `work` throws, only its own statements are rolled back. */
export async function withinSavepoint<Tables, T>(
  db: Transaction<Tables>,
  work: () => Promise<T>,
): Promise<T> {
  await sql`savepoint work`.execute(db);
  try {
    const result = await work();
    await sql`release savepoint work`.execute(db);
    return result;
  } catch (error) {
    await rollBack(db);
    throw error;
  }
}

async function rollBack<Tables>(db: Transaction<Tables>): Promise<void> {
  try {
    await sql`rollback to savepoint work`.execute(db);
    await sql`release savepoint work`.execute(db);
  } catch {
    // The database has ended the whole transaction (full disk, lost connection). The caller gets the original error.
  }
}
