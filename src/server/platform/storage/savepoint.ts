import { sql, type Transaction } from 'kysely';

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
