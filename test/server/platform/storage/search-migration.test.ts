import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Dialect, Kysely, PostgresDialect, sql } from 'kysely';
import { Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import type { StoreOptions } from '../../../../src/server/app/open-store.ts';
import type { Engine } from '../../../../src/server/platform/storage/engine.ts';
import { MIGRATIONS } from '../../../../src/server/platform/storage/schema/migrations.ts';
import type { Tables } from '../../../../src/server/platform/storage/schema/tables.ts';
import { sqliteKyselyDialect } from '../../../../src/server/platform/storage/sqlite/driver.ts';
import { createDatabase } from '../../../support/parts/postgres.ts';
import { sharedPostgres } from '../../../support/parts/shared.ts';
import { open as openStore, systemClock } from './grounds.ts';

/** The version before the search. */
const EARLIER = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '016-search'),
);

async function makeEarlier(dialect: Dialect, engine: Engine['name']): Promise<void> {
  const db = new Kysely<Tables>({ dialect });
  const types = { text: sql`text`, integer: engine === 'SQLite' ? sql`integer` : sql`bigint` };
  await sql`create table "rtcMigrations" ("name" text primary key not null, "appliedAt" bigint not null)`.execute(
    db,
  );
  for (const { name, up } of EARLIER) {
    await up(db, types, engine);
    await db.insertInto('rtcMigrations').values({ name, appliedAt: 0 }).execute();
  }
  await sql`
    insert into transcriptions
      (id, kind, room, status, language, speakers, options, attempts, progress, "createdAt", "originAt")
    values ('tr_1', 'live', 'demo', 'stopped', 'en', '{}', '{}', 0, 0, 1, 1)`.execute(db);
  for (const [at, text] of ['Coffee first.', 'Then the meetings.'].entries()) {
    await sql`
      insert into segments (id, "transcriptionId", text, language, "startedAt", "endedAt", confidence, "overlapMs")
      values (${`seg_${at}`}, 'tr_1', ${text}, 'en', ${at}, ${at + 1}, 0.5, 300)`.execute(db);
  }
  await db.destroy();
}

async function expectFound(database: StoreOptions['database']): Promise<void> {
  const store = await openStore(database);
  const { hits } = await store.words.search({ text: 'meeting', limit: 5 });
  expect(hits.map(({ segment }) => segment)).toMatchObject([
    { id: 'seg_1', text: 'Then the meetings.', startedAt: 1, endedAt: 2, confidence: 0.5, overlapMs: 300 },
  ]);
  expect(await store.transcriptions.countSegments('tr_1')).toBe(2);
  await store.transcriptions.delete('tr_1');
  expect((await store.words.search({ text: 'coffee', limit: 5 })).hits).toEqual([]);
  await store.close();
}

describe('the search', () => {
  it('finds segments that an earlier version stored in SQLite, also after the file was vacuumed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rtc-search-'));
    const sqlitePath = join(folder, 'rtc.sqlite');
    const writer = new DatabaseSync(sqlitePath);
    const dialect = sqliteKyselyDialect({ writer, reader: writer, clock: systemClock });
    await makeEarlier(dialect, 'SQLite');
    writer.close();
    await (await openStore({ sqlitePath })).close();
    const sqlite = new DatabaseSync(sqlitePath);
    sqlite.exec("delete from segments where id = 'none'; vacuum");
    sqlite.close();
    await expectFound({ sqlitePath });
    await rm(folder, { recursive: true });
  });

  it('finds segments that an earlier version stored in PostgreSQL', async () => {
    const database = await createDatabase(await sharedPostgres());
    const pool = new Pool({ connectionString: database.url });
    await makeEarlier(new PostgresDialect({ pool }), 'PostgreSQL');
    await expectFound({ databaseUrl: database.url });
    await database.close();
  });
});
