import type { Kysely, Transaction } from 'kysely';
import type { Statement } from '../engine.ts';
import { withinSavepoint } from '../savepoint.ts';
import { type LastStatement, PostgresConnection } from './connection.ts';

/** Implements RunAtCommit. */
export async function runAtCommit<Tables, Row>(
  db: Kysely<Tables>,
  statements: readonly Statement<Row>[],
  onRows?: (rows: readonly Row[]) => void,
): Promise<void> {
  const added = statements.map(
    ({ name, sql }): LastStatement => ({
      name,
      query: sql.compile(db),
      onRows: (rows) => onRows?.(rows as Row[]),
    }),
  );
  await withConnection(db, (connection) =>
    connection.setLastStatements([...connection.lastStatements, ...added]),
  );
}

/** Implements ReadTogether. */
export async function readTogether<Tables, Row>(
  db: Kysely<Tables>,
  statements: readonly Statement<Row>[],
): Promise<readonly (readonly Row[])[]> {
  const queries = statements.map(({ name, sql }) => ({ name, query: sql.compile(db) }));
  return (await withConnection(db, (connection) => connection.read(queries))) as readonly Row[][];
}

/** Runs a nested transaction. If it is rolled back, its statements for the commit are dropped. */
export async function nestedTransaction<Tables, T>(
  db: Transaction<Tables>,
  work: () => Promise<T>,
): Promise<T> {
  const before = await withConnection(db, (connection) => connection.lastStatements);
  try {
    return await withinSavepoint(db, work);
  } catch (error) {
    await withConnection(db, (connection) => connection.setLastStatements(before));
    throw error;
  }
}

async function withConnection<Tables, T>(
  db: Kysely<Tables>,
  use: (connection: PostgresConnection) => T | Promise<T>,
): Promise<T> {
  return await db.getExecutor().provideConnection(async (connection) => {
    if (!(connection instanceof PostgresConnection)) throw new TypeError('Not a connection of this driver');
    return await use(connection);
  });
}
