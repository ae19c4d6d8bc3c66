import { setTimeout as sleep } from 'node:timers/promises';
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { sanitizeText } from '../sanitize-text.ts';
import { isOutOfConnections, losesConnection, translatePostgresError } from './errors.ts';

/*
 * Kysely on a pool of pg. It differs from Kysely's own driver in its handling of errors: every error is translated, a
 * connection that was lost or timed out is not used again, and a rollback on a lost connection does not hide the
 * original error (the server has rolled back by itself).
 */
export function postgresKyselyDialect(pool: Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(pool),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** How long a call waits while the server has no free connection, such as after a burst over all instances. */
const CONNECTION_RETRY_MS = 1000;
const CONNECTION_RETRY_PAUSE_MS = 50;

class PostgresDriver implements Driver {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const deadline = performance.now() + CONNECTION_RETRY_MS;
    for (;;) {
      try {
        return new PostgresConnection(await this.#pool.connect());
      } catch (error) {
        if (!isOutOfConnections(error) || performance.now() >= deadline) throw translatePostgresError(error);
        await sleep(CONNECTION_RETRY_PAUSE_MS);
      }
    }
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    await connection.run('begin');
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    // PostgreSQL responds to COMMIT with ROLLBACK when a statement of the transaction failed.
    if ((await connection.run('commit')) === 'ROLLBACK') throw new AbortedTransactionError();
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    if (!connection.isLost) await connection.run('rollback').catch(() => connection.lose());
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  #lost = false;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  get isLost(): boolean {
    return this.#lost;
  }

  lose(): void {
    this.#lost = true;
  }

  release(): void {
    this.#client.release(this.#lost);
  }

  async run(sql: string): Promise<string> {
    return (await this.#query(sql, [])).command;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { command, rowCount, rows } = await this.#query(sql, parameters);
    return command === 'SELECT' ? { rows } : { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  }

  /** Yields all rows at once. Streaming needs a further package, and no caller reads more than a page. */
  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  async #query(sql: string, parameters: readonly unknown[]) {
    try {
      return await this.#client.query(sql, parameters.map(sendable));
    } catch (error) {
      if (losesConnection(error)) this.lose();
      throw translatePostgresError(error);
    }
  }
}

/** PostgreSQL rejects NUL in any parameter. A caller's made-up id must not cause an internal error. */
function sendable(parameter: unknown): unknown {
  if (typeof parameter === 'string') return parameter.includes('\0') ? sanitizeText(parameter) : parameter;
  return Array.isArray(parameter) ? parameter.map(sendable) : parameter;
}
