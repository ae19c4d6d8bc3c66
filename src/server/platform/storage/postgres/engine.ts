import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import { Pool, type PoolConfig, types } from 'pg';
import { ServiceError } from '../../../../contract/errors.ts';
import type { Clock, StoreClock } from '../../clock.ts';
import type { Loop } from '../../jobs/loop.ts';
import type { Log } from '../../log.ts';
import { ChangeHub } from '../changes.ts';
import type { Engine, RowColumns, SqlDialect } from '../engine.ts';
import { type Migration, migrate } from '../migrate.ts';
import { columnList } from '../statements.ts';
import {
  createChangeNotifier,
  listenForChanges,
  nestedTransaction,
  PostgresConnection,
  readTogether,
  runAtCommit,
} from './connection.ts';
import { type AskWitness, startDatabaseClock } from './database-clock.ts';
import { explainStart, isOutOfConnections, translatePostgresError } from './errors.ts';

/** Enough for an instance on two or three cores. A default PostgreSQL server allows 100 connections. */
const DEFAULT_POOL_SIZE = 10;

/** Time to connect, after which a caller gets a retryable error. */
const CONNECT_TIMEOUT_MS = 5000;

const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * Time limit for a server that does not respond. It is longer than the statement timeout, which keeps the connection usable.
 */
const QUERY_TIMEOUT_MS = 15_000;

/** A caller gets a retryable error when another transaction holds a lock for this long. */
const LOCK_TIMEOUT_MS = 1000;

/**
 * Releases the locks of an instance that was suspended in a transaction, such as those of rooms. The media server repeats an
 * event for 15 s, and another instance must be able to store it within that time.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5000;

/** Key of pg_advisory_xact_lock for migrations: an arbitrary number ("rtc" in ASCII) that all instances share. */
const MIGRATION_LOCK = 0x727463;

const INT8_OID = 20;

export type PostgresOptions<Tables> = {
  readonly migrations: readonly Migration<Tables>[];
  readonly url: string;
  readonly poolSize?: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly askWitness?: AskWitness | undefined;
};

/** Opens the pool and migrates the schema. */
export async function openPostgres<Tables>(options: PostgresOptions<Tables>): Promise<Engine<Tables>> {
  const { url, poolSize, clock, log } = options;
  await prepareDatabase(options);
  const pool = createPool(log, {
    connectionString: url,
    max: poolSize ?? DEFAULT_POOL_SIZE,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  });
  const ownProcessIds = trackProcessIds(pool);
  let listening: Loop | undefined;
  const notifier = createChangeNotifier(pool, log);
  const changes = new ChangeHub({
    onFirstSubscription: () => {
      listening = listenForChanges({ url, clock, log, changes, ownProcessIds });
    },
    onCommit: notifier.notify,
  });
  const databaseClock = await startDatabaseClock(pool, options).catch(async (error: unknown) => {
    await pool.end();
    throw explainStart(error, url);
  });
  const engine = createEngine<Tables>({ pool, changes, clock: databaseClock });
  return {
    ...engine,
    close: async () => {
      await Promise.all([listening?.close(), notifier.close(), databaseClock.close()]);
      await engine.close();
    },
  };
}

/** Uses its own connection without timeouts, because migrations may take long, and another instance may be running them. */
async function prepareDatabase<Tables>(options: PostgresOptions<Tables>): Promise<void> {
  const { url, migrations, clock, log } = options;
  const pool = createPool(log, { connectionString: url, max: 1 });
  const engine = createEngine<Tables>({ pool, clock, changes: new ChangeHub() });
  try {
    await requireWritableUtf8(engine);
    await migrate(engine, migrations, clock.now());
  } catch (error) {
    throw explainStart(error, url);
  } finally {
    await engine.close();
  }
}

async function requireWritableUtf8<Tables>({ db }: Engine<Tables>): Promise<void> {
  const { rows } = await sql<{ encoding: string; readOnly: string }>`
    select current_setting('server_encoding') as encoding, current_setting('transaction_read_only') as "readOnly"
  `.execute(db);
  const [found] = rows;
  if (found?.encoding !== 'UTF8') {
    throw new ServiceError(
      'storage-unavailable',
      `The PostgreSQL database has the encoding ${found?.encoding}`,
      { hint: { text: 'create one with', command: 'createdb --encoding=UTF8 --template=template0' } },
    );
  }
  if (found.readOnly === 'on') {
    throw new ServiceError('storage-unavailable', 'The PostgreSQL database is read-only (a standby?)', {
      hint: { text: 'point DATABASE_URL to the primary server' },
    });
  }
}

function createPool(log: Log, config: PoolConfig): Pool {
  const pool = new Pool({
    application_name: 'rtc-service',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    // Several statements are sent without waiting for each response. The commit depends on it.
    pipeline: true,
    types: { getTypeParser },
    ...config,
  });
  // An 'error' event without a listener ends the process. Idle connections emit it on the pool. Connections in use emit
  // it on the client, where the current or next query fails too and its error is translated.
  pool.on('error', (error) => {
    log.warn({ code: 'code' in error ? error.code : undefined }, 'lost an idle database connection');
  });
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
  return pool;
}

/** Our 64-bit columns hold safe integers, which pg would return as strings. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === INT8_OID ? Number : types.getTypeParser(oid, format);
}

function trackProcessIds(pool: Pool): ReadonlySet<number> {
  const processIds = new Set<number>();
  pool.on('connect', (client) => processIds.add(readProcessId(client)));
  pool.on('remove', (client) => processIds.delete(readProcessId(client)));
  return processIds;
}

/** Returns the process id of a connection. pg sets it, but its types leave it out. */
function readProcessId(client: object): number {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : 0;
}

type EngineParts = { readonly pool: Pool; readonly changes: ChangeHub; readonly clock: StoreClock };

function createEngine<Tables>({ pool, changes, clock }: EngineParts): Engine<Tables> {
  const db = new Kysely<Tables>({ dialect: postgresKyselyDialect(pool) });
  return {
    name: 'PostgreSQL',
    db,
    dialect: postgresDialect,
    changes,
    clock,
    transaction: (work) => changes.publishAfter((inside) => db.transaction().execute(inside), work),
    nestedTransaction,
    runAtCommit,
    readTogether,
    columnTypes: { text: sql`text collate "C"`, integer: sql`bigint` },
    hasTable: async (db, table) => {
      const found = await sql<{
        found: boolean;
      }>`select to_regclass(format('%I', ${table}::text)) is not null as found`.execute(db);
      return found.rows[0]?.found === true;
    },
    lockMigrations: async (db) => {
      await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(db);
    },
    pool: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: async () => {
      await db.destroy();
      // Kysely closes a pool only after it has run a statement on it.
      if (!pool.ending) await pool.end();
    },
  };
}

/** An arbitrary number that is the same in every instance. It separates our hashes from other advisory locks. */
const NAME_LOCK_SEED = 0x727463;

const seed = sql.lit(NAME_LOCK_SEED);

/** The name of the statement that locks the rooms of a transaction, as far as they are free. */
export const LOCK_FREE_NAMES = 'lock-free-names';

const TYPES = { text: 'text', integer: 'bigint' } as const;

const postgresDialect: SqlDialect = {
  engine: 'PostgreSQL',
  rows,
  oneOf: (values) => sql`= any(${values})`,
  noneOf: (values) => sql`<> all(${values})`,
  lockRows: sql`for update`,
  lockFreeRows: sql`for update skip locked`,
  lockName: async (db, name) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, ${seed}))`.execute(db);
  },
  jsonRows: (columns, from) => {
    return sql`
      (select coalesce(json_agg(one), '[]')::text from (select ${columnList(columns)} from ${from}) as one)`;
  },
  nameLocks: {
    all: (names) => ({
      name: 'lock-names',
      sql: sql`
        select name, pg_advisory_xact_lock(hashtextextended(name, ${seed}))
        from (select name from unnest(${names}::text[]) with ordinality as listed (name, number) order by number)
        as ordered`,
    }),
    free: (names) => ({
      name: LOCK_FREE_NAMES,
      sql: sql`
        select name from unnest(${names}::text[]) as listed (name)
        where pg_try_advisory_xact_lock(hashtextextended(name, ${seed}))`,
    }),
  },
};

function rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const fields = names.map((name) => `"${name}" ${TYPES[columns[name] ?? 'text']}`);
  const json = JSON.stringify(objects, names);
  return sql`(select * from json_to_recordset(${json}) as listed (${sql.raw(fields.join(', '))}))`;
}

/*
 * Kysely on a pool of pg. It differs from Kysely's own driver in its handling of errors: every error is translated, a
 * connection that was lost or timed out is not used again, and a rollback on a lost connection does not hide the
 * original error (the server has rolled back by itself).
 */
function postgresKyselyDialect(pool: Pool): Dialect {
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
