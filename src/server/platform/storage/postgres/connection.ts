import {
  AbortedTransactionError,
  CompiledQuery,
  type DatabaseConnection,
  type Kysely,
  type QueryResult,
  type Transaction,
} from 'kysely';
import { Client, type Pool, type PoolClient } from 'pg';
import type { Clock } from '../../clock.ts';
import { Batcher } from '../../jobs/batcher.ts';
import { type Loop, startLoop } from '../../jobs/loop.ts';
import type { Log } from '../../log.ts';
import { CHANGE_TOPICS, type ChangeHub, type ChangeTopic } from '../changes.ts';
import type { Statement } from '../engine.ts';
import { sanitizeText, withinSavepoint } from '../statements.ts';
import { losesConnection, translatePostgresError } from './errors.ts';

/** A statement that PostgreSQL parses and plans once for each connection, where it has a name. */
type NamedQuery = { readonly name: string | undefined; readonly query: CompiledQuery };

/** A statement that is sent together with the COMMIT; the rows that it returns are passed on. */
type LastStatement = NamedQuery & {
  readonly onRows: (rows: readonly unknown[]) => void;
};

const BEGIN: NamedQuery = { name: undefined, query: CompiledQuery.raw('begin') };

const COMMIT: NamedQuery = { name: undefined, query: CompiledQuery.raw('commit') };

/** A connection of the pool, from its checkout to its release. */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  #lost = false;
  /** Whether the transaction has sent nothing yet, not even its BEGIN. */
  #isToBegin = false;
  #lastStatements: readonly LastStatement[] = [];

  constructor(client: PoolClient) {
    this.#client = client;
  }

  get lastStatements(): readonly LastStatement[] {
    return this.#lastStatements;
  }

  /** Replaces the statements that the next commit sends. */
  setLastStatements(statements: readonly LastStatement[]): void {
    this.#lastStatements = statements;
  }

  release(): void {
    this.#client.release(this.#lost);
  }

  /** The BEGIN is sent with the first statement. */
  async begin(): Promise<void> {
    this.#isToBegin = true;
  }

  /**
   * Sends the last statements and the COMMIT in one message, so that nothing can come between them. A transaction of one
   * statement is that statement alone.
   */
  async commit(): Promise<void> {
    const last = this.#lastStatements;
    const [only] = last;
    if (this.#isToBegin && last.length <= 1) {
      this.#isToBegin = false;
      if (only !== undefined) only.onRows((await this.#send(only)).rows);
      return;
    }
    await this.#begin();
    const responses = await this.#sendTogether([...last, COMMIT]);
    // PostgreSQL responds to COMMIT with ROLLBACK when a statement of the transaction failed.
    if (responses.at(-1)?.command === 'ROLLBACK') throw new AbortedTransactionError();
    for (const [index, { onRows }] of last.entries()) onRows(responses[index]?.rows ?? []);
  }

  async rollback(): Promise<void> {
    const hasBegun = !this.#isToBegin;
    this.#isToBegin = false;
    if (this.#lost || !hasBegun) return;
    await this.#query('rollback', []).catch(() => {
      this.#lost = true;
    });
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    await this.#begin();
    const { command, rowCount, rows } = await this.#query(sql, parameters);
    return command === 'SELECT' ? { rows } : { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  }

  /**
   * Sends statements in one message, with the BEGIN where it is still to be sent. They must not change anything: if
   * the BEGIN alone failed, they would run outside of the transaction.
   */
  async read(statements: readonly NamedQuery[]): Promise<readonly (readonly unknown[])[]> {
    const first = this.#isToBegin ? [BEGIN] : [];
    this.#isToBegin = false;
    const responses = await this.#sendTogether([...first, ...statements]);
    return responses.slice(first.length).map(({ rows }) => rows);
  }

  /** Yields all rows at once. Streaming needs a further package, and no caller reads more than a page. */
  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  async #begin(): Promise<void> {
    if (!this.#isToBegin) return;
    this.#isToBegin = false;
    await this.#send(BEGIN);
  }

  async #sendTogether(statements: readonly NamedQuery[]) {
    const { stream } = this.#client.connection;
    stream.cork();
    const results = statements.map((statement) => this.#send(statement));
    stream.uncork();
    // The connection must not be released before every response has arrived.
    await Promise.allSettled(results);
    return await Promise.all(results);
  }

  #send({ name, query: { sql, parameters } }: NamedQuery) {
    return this.#query(sql, parameters, name);
  }

  async #query(text: string, parameters: readonly unknown[], name?: string) {
    try {
      const values = parameters.map(sendable);
      return await this.#client.query(name === undefined ? { text, values } : { name, text, values });
    } catch (error) {
      if (losesConnection(error)) this.#lost = true;
      throw translatePostgresError(error);
    }
  }
}

/** PostgreSQL rejects NUL in any parameter. A caller's made-up id must not cause an internal error. */
function sendable(parameter: unknown): unknown {
  if (typeof parameter === 'string') return parameter.includes('\0') ? sanitizeText(parameter) : parameter;
  return Array.isArray(parameter) ? parameter.map(sendable) : parameter;
}

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

const CONNECT_TIMEOUT_MS = 5000;

const RECONNECT_PAUSE_MS = 1000;

type ListenDeps = {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly changes: ChangeHub;
  /** Process ids of this instance's own connections, whose changes it publishes itself. */
  readonly ownProcessIds: ReadonlySet<number>;
};

/**
 * Publishes the changes of other instances, on a connection of its own. Changes may be missed while there is no
 * connection: after each connect every topic counts as changed. LISTEN needs a session, so that a connection pooler
 * must not be in transaction mode.
 */
export function listenForChanges(deps: ListenDeps): Loop {
  return startLoop({
    clock: deps.clock,
    log: deps.log,
    failureMessage: 'listening for changes in the database failed; trying again',
    round: async (signal) => {
      await listenUntilEnd(deps, signal);
      return RECONNECT_PAUSE_MS;
    },
  });
}

async function listenUntilEnd(
  { url, changes, ownProcessIds }: ListenDeps,
  signal: AbortSignal,
): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: 'rtc-service changes',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  // An 'error' event without a listener ends the process; an 'end' event follows it.
  client.on('error', () => {});
  client.on('notification', ({ payload, processId }) => {
    const topic = CHANGE_TOPICS.find((one) => one === payload);
    if (topic !== undefined && !ownProcessIds.has(processId)) changes.publish(topic, 'elsewhere');
  });
  const endClient = () => void client.end().catch(() => {});
  signal.addEventListener('abort', endClient, { once: true });
  try {
    // The connect never settles when the client is ended meanwhile.
    await Promise.race([client.connect(), ended]);
    if (signal.aborted) return;
    await client.query(`listen ${CHANGE_CHANNEL}`);
    changes.publishAll('elsewhere');
    await ended;
  } finally {
    signal.removeEventListener('abort', endClient);
    endClient();
  }
}

const CHANGE_CHANNEL = 'rtc_changes';

/** Changes of this time share a notification. Readers on other instances get an event at most this much later. */
const GATHER_MS = 10;

/** More than the number of topics, so that a batch always waits for its full time. */
const GATHER_SIZE = Number.MAX_SAFE_INTEGER;

type ChangeNotifier = {
  readonly notify: (topic: ChangeTopic) => void;
  /** Sends the notifications that are still waiting. */
  readonly close: () => Promise<void>;
};

/**
 * Notifies the other instances of committed changes, several changes at once. NOTIFY is not part of the transaction that
 * makes the change, because PostgreSQL lets transactions with a NOTIFY commit one at a time, and each waits for the disk
 * meanwhile. A notification that cannot be sent is dropped: listeners read again by themselves.
 */
export function createChangeNotifier(pool: Pool, log: Log): ChangeNotifier {
  const batcher = new Batcher<ChangeTopic>({
    maxSize: GATHER_SIZE,
    gather: { ms: GATHER_MS, size: GATHER_SIZE },
    flush: (topics) => sendTopics(pool, new Set(topics)),
  });
  return {
    notify: (topic) => {
      batcher.add(topic).catch((error: unknown) => {
        log.debug({ err: error }, 'notifying other instances of a change failed');
      });
    },
    close: () => batcher.close(),
  };
}

/** The statements of one message are one transaction. It does not wait for the disk, because its loss is harmless. */
async function sendTopics(pool: Pool, topics: ReadonlySet<ChangeTopic>): Promise<void> {
  const notifications = [...topics].map((topic) => `notify ${CHANGE_CHANNEL}, '${topic}'`);
  await pool.query(['set local synchronous_commit = off', ...notifications].join('; '));
}
