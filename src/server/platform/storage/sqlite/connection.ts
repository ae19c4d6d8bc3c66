import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery, QueryResult } from 'kysely';
import { ServiceError } from '../../../../contract/errors.ts';
import type { Clock } from '../../clock.ts';
import { isBusy, translateSqliteError } from './errors.ts';

/*
 * One connection of node:sqlite. Its statements run synchronously on this thread.
 *
 * A write waits for writers in other processes. SQLite's own waiting blocks the event loop, so it is limited to
 * BUSY_TIMEOUT_MS. After that the connection sleeps without blocking and tries again.
 */

/** Longer than a usual commit of another process, and too short for a caller to notice. */
export const BUSY_TIMEOUT_MS = 10;
const BUSY_PAUSE_MS = 5;
const BUSY_DEADLINE_MS = 5000;

/** The code has few statements. The bound is for statements whose text varies with a list's length. */
const CACHED_STATEMENTS = 256;

type CachedStatement = { readonly statement: StatementSync; readonly returnsRows: boolean };

export class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #statements = new Map<string, CachedStatement>();
  #expectsTransaction = false;

  constructor(database: DatabaseSync, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** `askedAt`, in monotonic milliseconds, is when the caller began to wait; now unless it is given. */
  async execute<R>({ sql, parameters }: CompiledQuery, askedAt?: number): Promise<QueryResult<R>> {
    return this.#retryWhileBusy(() => this.#execute<R>(sql, parameters), askedAt);
  }

  /** Uses `immediate`, because a transaction that began by reading cannot wait for the write lock and would fail. */
  async begin(askedAt?: number): Promise<void> {
    await this.#retryWhileBusy(() => this.#execute('begin immediate', []), askedAt);
    this.#expectsTransaction = true;
  }

  async commit(): Promise<void> {
    await this.#retryWhileBusy(() => this.#execute('commit', []));
    this.#expectsTransaction = false;
  }

  async rollback(): Promise<void> {
    this.#expectsTransaction = false;
    // After some errors, such as a full disk, SQLite has rolled back by itself and refuses a second rollback.
    if (this.#database.isTransaction) this.#execute('rollback', []);
  }

  close(): void {
    this.#database.close();
  }

  #execute<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    // Work that caught the error which ended its transaction must not continue outside a transaction.
    if (this.#expectsTransaction && !this.#database.isTransaction) {
      throw new ServiceError('storage-unavailable', 'The database undid the transaction; try again.', {
        retryable: true,
      });
    }
    const { statement, returnsRows } = this.#prepare(sql);
    const values = parameters as readonly SQLInputValue[];
    if (returnsRows) return { rows: statement.all(...values) as R[] };
    return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
  }

  #prepare(sql: string): CachedStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    const cached = { statement, returnsRows: statement.columns().length > 0 };
    if (this.#statements.size >= CACHED_STATEMENTS) {
      const [oldest] = this.#statements.keys();
      if (oldest !== undefined) this.#statements.delete(oldest);
    }
    this.#statements.set(sql, cached);
    return cached;
  }

  async #retryWhileBusy<T>(work: () => T, askedAt?: number): Promise<T> {
    let since = askedAt;
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || this.#database.isTransaction) throw translateSqliteError(error);
        const now = this.#clock.monotonic();
        since ??= now;
        if (now - since >= BUSY_DEADLINE_MS) throw translateSqliteError(error);
        await this.#clock.sleep(BUSY_PAUSE_MS);
      }
    }
  }
}
