import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  GroupCommit,
  sqliteKyselyDialect,
  TurnLimit,
} from '../../../../src/server/platform/storage/sqlite/driver.ts';
import type { Tables } from '../../../../src/server/schema/tables.ts';
import { systemClock } from './test-databases.ts';

describe('transactions on SQLite', () => {
  let folder: string;
  let database: DatabaseSync;
  let reader: DatabaseSync;
  let db: Kysely<Tables>;
  let groupCommit: GroupCommit<Tables>;
  /** Time that passes whenever a write looks at the clock. */
  let stepMs: number;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-store-'));
    database = new DatabaseSync(join(folder, 'store.sqlite'));
    database.exec(
      'pragma journal_mode = wal; create table rtcMigrations (name text primary key, appliedAt integer)',
    );
    reader = new DatabaseSync(join(folder, 'store.sqlite'), { readOnly: true });
    stepMs = 0;
    let elapsedMs = 0;
    const monotonic = () => {
      elapsedMs += stepMs;
      return elapsedMs;
    };
    const clock = { ...systemClock, monotonic };
    const turn = new TurnLimit(clock);
    db = new Kysely<Tables>({ dialect: sqliteKyselyDialect({ writer: database, reader, clock, turn }) });
    groupCommit = new GroupCommit(db, turn);
  });
  afterEach(async () => {
    await db.destroy();
    reader.close();
    database.close();
    await rm(folder, { recursive: true });
  });

  const insert = (within: Kysely<Tables>, name: string) =>
    within.insertInto('rtcMigrations').values({ name, appliedAt: 1 }).execute();
  const committed = () =>
    reader
      .prepare('select name from rtcMigrations order by name')
      .all()
      .map((row) => row.name);

  it('share one commit when they are concurrent, and report success only after it', async () => {
    const heard: string[] = [];
    const run = (name: string) =>
      groupCommit
        .run(async (within) => {
          await insert(within, name);
          expect({ committed: committed(), heard }).toEqual({ committed: [], heard: [] });
        })
        .then(() => heard.push(name));
    await Promise.all(['a', 'b', 'c'].map(run));
    expect(heard).toEqual(['a', 'b', 'c']);
    expect(committed()).toEqual(['a', 'b', 'c']);
  });

  it('that start while others run are in the next commit', async () => {
    let second: Promise<void> | undefined;
    await groupCommit.run(async (within) => {
      await insert(within, 'a');
      second = groupCommit.run(async (next) => {
        expect(committed()).toEqual(['a']);
        await insert(next, 'b');
      });
    });
    await second;
    expect(committed()).toEqual(['a', 'b']);
  });

  it.each([
    ['in one commit', (name: string) => groupCommit.run((within) => insert(within, name))],
    ['one by one', (name: string) => db.transaction().execute((within) => insert(within, name))],
  ])('let the event loop attend to others when they take long, %s', async (_how, write) => {
    stepMs = 5;
    const all = Promise.all(Array.from({ length: 20 }, (_, at) => write(`${at}`)));
    let most = 0;
    for (let written = 0; written < 20; ) {
      await nextTurn();
      const { rows } = database.prepare('select count(*) as rows from rtcMigrations').get() ?? {};
      most = Math.max(most, Number(rows) - written);
      written = Number(rows);
    }
    await all;
    expect(most).toBeLessThanOrEqual(4);
  });

  it('fail alone within a group', async () => {
    const outcomes = await Promise.allSettled([
      groupCommit.run((within) => insert(within, 'a')),
      groupCommit.run(async (within) => {
        await insert(within, 'b');
        throw new Error('no');
      }),
      groupCommit.run((within) => insert(within, 'a')),
      groupCommit.run((within) => insert(within, 'c')),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(committed()).toEqual(['a', 'c']);
  });

  it('all fail when SQLite rolls back the whole group, and the next ones succeed', async () => {
    await insert(db, 'taken');
    const outcomes = await Promise.allSettled([
      groupCommit.run((within) => insert(within, 'a')),
      groupCommit.run((within) =>
        sql`insert or rollback into rtcMigrations values ('taken', 1)`.execute(within),
      ),
      groupCommit.run((within) => insert(within, 'b')),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(committed()).toEqual(['taken']);
    await groupCommit.run((within) => insert(within, 'c'));
    expect(committed()).toEqual(['c', 'taken']);
  });

  it('all fail when the shared commit does', async () => {
    database.exec(`pragma foreign_keys = on;
      create table parents (id text primary key);
      create table children (parent text references parents (id) deferrable initially deferred)`);
    const outcomes = await Promise.allSettled([
      groupCommit.run((within) => insert(within, 'a')),
      groupCommit.run((within) => sql`insert into children values ('nobody')`.execute(within)),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    expect(committed()).toEqual([]);
    await groupCommit.run((within) => insert(within, 'b'));
    expect(committed()).toEqual(['b']);
  });

  it('do not continue outside of a transaction that SQLite rolled back', async () => {
    await insert(db, 'taken');
    const outcome = db.transaction().execute(async (within) => {
      await insert(within, 'a');
      await expect(
        sql`insert or rollback into rtcMigrations values ('taken', 1)`.execute(within),
      ).rejects.toThrow();
      await expect(insert(within, 'b')).rejects.toMatchObject({ code: 'storage-unavailable' });
    });
    await expect(outcome).rejects.toMatchObject({ code: 'storage-unavailable', retryable: true });
    expect(committed()).toEqual(['taken']);
    await insert(db, 'c');
    expect(committed()).toEqual(['c', 'taken']);
  });
});
