import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { withinSavepoint } from '../savepoint.ts';

/*
 * Shares one durable commit among several transactions. A commit waits for the disk, and SQLite runs on the event loop, so
 * the whole process waits. Therefore transactions that are requested in the same turn of the event loop, or while others
 * run, share a commit. Each runs in its own savepoint, and its caller gets the result after the shared commit.
 */

/** Limits how long the first transaction of a group waits for the last one. */
const GROUP_SIZE = 100;

type Work<Tables, T> = (db: Transaction<Tables>) => Promise<T>;

/** Resolves or rejects the caller's promise. Called when the commit has succeeded or the work has failed. */
type ReportOutcome = () => void;

type PendingTransaction<Tables> = {
  run(db: Transaction<Tables>): Promise<ReportOutcome>;
  fail(reason: unknown): void;
};

export class GroupCommit<Tables> {
  readonly #db: Kysely<Tables>;
  readonly #pending: PendingTransaction<Tables>[] = [];
  #running = false;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  run<T>(work: Work<Tables, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#pending.push({
        run: async (db) => {
          const result = await work(db);
          return () => resolve(result);
        },
        fail: reject,
      });
      if (!this.#running) void this.#runPending();
    });
  }

  async #runPending(): Promise<void> {
    this.#running = true;
    while (this.#pending.length > 0) {
      await nextTurn();
      await this.#runGroup(this.#pending.splice(0, GROUP_SIZE));
    }
    this.#running = false;
  }

  async #runGroup(group: readonly PendingTransaction<Tables>[]): Promise<void> {
    try {
      const reports = await this.#db.transaction().execute((db) => this.#runInSavepoints(db, group));
      for (const report of reports) report();
    } catch (error) {
      for (const transaction of group) transaction.fail(error);
    }
  }

  async #runInSavepoints(
    db: Transaction<Tables>,
    group: readonly PendingTransaction<Tables>[],
  ): Promise<readonly ReportOutcome[]> {
    const [only, second] = group;
    if (only !== undefined && second === undefined) return [await only.run(db)];
    const reports: ReportOutcome[] = [];
    for (const transaction of group) {
      try {
        reports.push(await withinSavepoint(db, () => transaction.run(db)));
      } catch (error) {
        // If this error made SQLite roll back the whole transaction, the driver rejects the next statement and the commit.
        reports.push(() => transaction.fail(error));
      }
    }
    return reports;
  }
}
