import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
} from 'kysely';
import type { PoolClient } from 'pg';
import { sanitizeText } from '../sanitize-text.ts';
import { losesConnection, translatePostgresError } from './errors.ts';

/** A statement that is sent together with the COMMIT; the rows that it returns are passed on. */
export type LastStatement = {
  readonly query: CompiledQuery;
  readonly onRows?: ((rows: readonly unknown[]) => void) | undefined;
};

/** A connection of the pool, from its checkout to its release. */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  #lost = false;
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

  async begin(): Promise<void> {
    await this.#query('begin', []);
  }

  /** Sends the last statements and the COMMIT in one message, so that nothing can come between them. */
  async commit(): Promise<void> {
    const last = this.#lastStatements;
    const { stream } = this.#client.connection;
    stream.cork();
    const results = [
      ...last.map(({ query }) => this.#query(query.sql, query.parameters)),
      this.#query('commit', []),
    ];
    stream.uncork();
    // The connection must not be released before every response has arrived.
    await Promise.allSettled(results);
    const responses = await Promise.all(results);
    // PostgreSQL responds to COMMIT with ROLLBACK when a statement of the transaction failed.
    if (responses.at(-1)?.command === 'ROLLBACK') throw new AbortedTransactionError();
    for (const [index, { onRows }] of last.entries()) onRows?.(responses[index]?.rows ?? []);
  }

  async rollback(): Promise<void> {
    if (this.#lost) return;
    await this.#query('rollback', []).catch(() => {
      this.#lost = true;
    });
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
