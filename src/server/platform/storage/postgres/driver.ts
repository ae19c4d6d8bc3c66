import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Pool } from 'pg';
import { PostgresConnection } from './connection.ts';
import { isOutOfConnections, translatePostgresError } from './errors.ts';

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

/** How long a call waits while the server has no free connection, such as after a burst on all instances. */
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

  beginTransaction(connection: PostgresConnection): Promise<void> {
    return connection.begin();
  }

  commitTransaction(connection: PostgresConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: PostgresConnection): Promise<void> {
    return connection.rollback();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}
