import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Dialect, Kysely, PostgresDialect, sql } from 'kysely';
import { Client, Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import type { StoreOptions } from '../../../../src/server/app/open-store.ts';
import type { Engine } from '../../../../src/server/platform/storage/engine.ts';
import type { Migration } from '../../../../src/server/platform/storage/migrate.ts';
import { sqliteKyselyDialect } from '../../../../src/server/platform/storage/sqlite/driver.ts';
import { addFunctions } from '../../../../src/server/platform/storage/sqlite/functions.ts';
import { MIGRATIONS } from '../../../../src/server/schema/migrations.ts';
import type { Tables } from '../../../../src/server/schema/tables.ts';
import { createDatabase } from '../../../support/parts/postgres.ts';
import { sharedPostgres } from '../../../support/parts/shared.ts';
import { open as openStore, systemClock } from './test-databases.ts';

/** The migrations of the version before search, and of the version that indexed accents and did not split Chinese. */
const BEFORE_SEARCH = before('016-search');
const BEFORE_TERMS = before('027-terms');

function before(first: string): readonly Migration<Tables>[] {
  return MIGRATIONS.slice(
    0,
    MIGRATIONS.findIndex(({ name }) => name === first),
  );
}

const STORED = [
  ['en', 'Coffee first.'],
  ['en', 'Then the meetings.'],
  ['it', 'Perché ne parliamo?'],
  ['zh', '我们明天下午开预算会议。'],
] as const;

type Made = { readonly engine: Engine<Tables>['name']; readonly migrations: readonly Migration<Tables>[] };

async function makeEarlier(dialect: Dialect, { engine, migrations }: Made): Promise<void> {
  const db = new Kysely<Tables>({ dialect });
  const types = { text: sql`text`, integer: engine === 'SQLite' ? sql`integer` : sql`bigint` };
  await sql`create table "rtcMigrations" ("name" text primary key not null, "appliedAt" bigint not null)`.execute(
    db,
  );
  for (const { name, up } of migrations) {
    await up(db, types, engine);
    await db.insertInto('rtcMigrations').values({ name, appliedAt: 0 }).execute();
  }
  await sql`
    insert into transcriptions
      (id, kind, room, status, language, speakers, options, attempts, progress, "createdAt", "originAt")
    values ('tr_1', 'live', 'demo', 'stopped', 'en', '{}', '{}', 0, 0, 1, 1)`.execute(db);
  for (const [at, [language, text]] of STORED.entries()) {
    await sql`
      insert into segments (id, "transcriptionId", text, language, "startedAt", "endedAt", confidence, "overlapMs")
      values (${`seg_${at}`}, 'tr_1', ${text}, ${language}, ${at}, ${at + 1}, 0.5, 300)`.execute(db);
  }
  await db.destroy();
}

async function expectFound(database: StoreOptions['database']): Promise<void> {
  const store = await openStore(database);
  const found = async (text: string) =>
    (await store.words.search({ text, limit: 5 })).hits.map(({ segment }) => segment.id);
  expect(await found('perche parlato')).toEqual(['seg_2']);
  expect(await found('预算')).toEqual(['seg_3']);
  const { hits } = await store.words.search({ text: 'meeting', limit: 5 });
  expect(hits.map(({ segment }) => segment)).toMatchObject([
    { id: 'seg_1', text: 'Then the meetings.', startedAt: 1, endedAt: 2, confidence: 0.5, overlapMs: 300 },
  ]);
  expect(await store.transcriptions.countSegments('tr_1')).toBe(STORED.length);
  await store.transcriptions.delete('tr_1');
  expect((await store.words.search({ text: 'coffee', limit: 5 })).hits).toEqual([]);
  await store.close();
}

const VERSIONS = [
  ['before the search', BEFORE_SEARCH],
  ['whose search divided no Chinese', BEFORE_TERMS],
] as const;

describe('the search', () => {
  it.each(VERSIONS)(
    'finds what a version %s stored in SQLite, also after the file was vacuumed',
    async (_, migrations) => {
      const folder = await mkdtemp(join(tmpdir(), 'rtc-search-'));
      const sqlitePath = join(folder, 'rtc.sqlite');
      const writer = new DatabaseSync(sqlitePath);
      addFunctions(writer);
      const dialect = sqliteKyselyDialect({ writer, reader: writer, clock: systemClock });
      await makeEarlier(dialect, { engine: 'SQLite', migrations });
      writer.close();
      await (await openStore({ sqlitePath })).close();
      const sqlite = new DatabaseSync(sqlitePath);
      sqlite.exec("delete from segments where id = 'none'; vacuum");
      sqlite.close();
      await expectFound({ sqlitePath });
      await rm(folder, { recursive: true });
    },
  );

  it.each(VERSIONS)('finds what a version %s stored in PostgreSQL', async (_, migrations) => {
    const database = await createDatabase(await sharedPostgres());
    const pool = new Pool({ connectionString: database.url });
    await makeEarlier(new PostgresDialect({ pool }), { engine: 'PostgreSQL', migrations });
    await expectFound({ databaseUrl: database.url });
    await database.close();
  });

  it('finds the words of many segments in PostgreSQL, and those that a worker of an older version still stores', async () => {
    const database = await createDatabase(await sharedPostgres());
    const pool = new Pool({ connectionString: database.url });
    await makeEarlier(new PostgresDialect({ pool }), { engine: 'PostgreSQL', migrations: BEFORE_TERMS });
    const worker = new Client({ connectionString: database.url });
    await worker.connect();
    // More rows than the migration indexes at a time.
    await worker.query(
      `insert into segments (id, "transcriptionId", text, language, "startedAt", "endedAt")
      select 'many_' || number, 'tr_1', 'Perché ' || number, 'it', 0, 1 from generate_series(1, 2100) as listed (number)`,
    );
    const store = await openStore({ databaseUrl: database.url });
    const texts = async (text: string) =>
      (await store.words.search({ text, limit: 5 })).hits.map(({ segment }) => segment.text);
    expect(await texts('perche 1')).toEqual(['Perché 1']);
    expect(await texts('perche 2100')).toEqual(['Perché 2100']);
    await worker.query(
      `insert into segments (id, "transcriptionId", text, language, "startedAt", "endedAt")
      values ('late', 'tr_1', 'Late Budget', 'en', 0, 1)`,
    );
    await worker.end();
    expect(await texts('budget')).toEqual(['Late Budget']);
    await store.close();
    await database.close();
  });
});
