import { sql, type Transaction } from 'kysely';
import type { Tables } from './schema/tables.ts';

type Database = Transaction<Tables>;

/** Runs `work` in a savepoint of the transaction. If `work` throws, only its own statements are rolled back. */
export async function withinSavepoint<T>(db: Database, work: () => Promise<T>): Promise<T> {
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

async function rollBack(db: Database): Promise<void> {
  try {
    await sql`rollback to savepoint work`.execute(db);
    await sql`release savepoint work`.execute(db);
  } catch {
    // The database has ended the whole transaction (full disk, lost connection). The caller gets the original error.
  }
}
