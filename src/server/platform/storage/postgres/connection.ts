import { AbortedTransactionError, CompiledQuery, type DatabaseConnection, type QueryResult } from 'kysely';
import type { PoolClient } from 'pg';
import { sanitizeText } from '../sanitize-text.ts';
import { losesConnection, translatePostgresError } from './errors.ts';

/** A statement that PostgreSQL parses and plans once for each connection, where it has a name. */
export type NamedQuery = { readonly name: string | undefined; readonly query: CompiledQuery };

/** A statement that is sent together with the COMMIT; the rows that it returns are passed on. */
export type LastStatement = NamedQuery & {
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
