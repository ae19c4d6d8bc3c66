import { sql, type Transaction } from 'kysely';
import type { Tables } from './schema/tables.ts';

type Database = Transaction<Tables>;

/** Runs `work` within the transaction so that what it throws undoes its own statements alone. */
export async function withinSavepoint<T>(db: Database, work: () => Promise<T>): Promise<T> {
  await sql`savepoint work`.execute(db);
  try {
    const result = await work();
    await sql`release savepoint work`.execute(db);
    return result;
  } catch (error) {
    await undo(db);
    throw error;
  }
}

async function undo(db: Database): Promise<void> {
  try {
    await sql`rollback to savepoint work`.execute(db);
    await sql`release savepoint work`.execute(db);
  } catch {
    // The whole transaction is gone (a full disk, a lost connection), and the error of the work says why.
  }
}
