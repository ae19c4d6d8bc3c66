import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { withinSavepoint } from '../savepoint.ts';
import type { Tables } from '../schema/tables.ts';

/*
 * One durable commit for the transactions that come at the same time. A commit waits for the disk, and with SQLite
 * the whole process waits with it; so those that are asked for in one turn of the event loop, or while others
 * run, share one, each in a savepoint of its own. None hears of its success before the common commit.
 */

/** Bounds how long the first of a group waits for the last. */
const GROUP_SIZE = 100;

type Work<T> = (db: Transaction<Tables>) => Promise<T>;

/** Tells the caller how its work came out, once that is certain. */
type Outcome = () => void;

type Member = {
  run(db: Transaction<Tables>): Promise<Outcome>;
  fail(reason: unknown): void;
};

export class CommitGroups {
  readonly #db: Kysely<Tables>;
  readonly #waiting: Member[] = [];
  #running = false;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  run<T>(work: Work<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        run: async (db) => {
          const result = await work(db);
          return () => resolve(result);
        },
        fail: reject,
      });
      if (!this.#running) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      await nextTurn();
      await this.#runGroup(this.#waiting.splice(0, GROUP_SIZE));
    }
    this.#running = false;
  }

  async #runGroup(group: readonly Member[]): Promise<void> {
    try {
      const outcomes = await this.#db.transaction().execute((db) => this.#runMembers(db, group));
      for (const tell of outcomes) tell();
    } catch (error) {
      for (const member of group) member.fail(error);
    }
  }

  async #runMembers(db: Transaction<Tables>, group: readonly Member[]): Promise<readonly Outcome[]> {
    const [only, second] = group;
    if (only !== undefined && second === undefined) return [await only.run(db)];
    const outcomes: Outcome[] = [];
    for (const member of group) {
      try {
        outcomes.push(await withinSavepoint(db, () => member.run(db)));
      } catch (error) {
        // Where SQLite undid the whole transaction at this error, the driver refuses the rest and the commit.
        outcomes.push(() => member.fail(error));
      }
    }
    return outcomes;
  }
}
