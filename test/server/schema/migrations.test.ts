import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/server/platform/storage/engine.ts';
import type { Migration } from '../../../src/server/platform/storage/migrate.ts';
import { openPostgres } from '../../../src/server/platform/storage/postgres/engine.ts';
import { openSqlite } from '../../../src/server/platform/storage/sqlite/engine.ts';
import { MIGRATIONS } from '../../../src/server/schema/migrations.ts';
import { createDatabase } from '../../support/parts/postgres.ts';
import { sharedPostgres } from '../../support/parts/shared.ts';
import { silentLog } from '../../support/silent-log.ts';
import { systemClock } from '../platform/storage/test-databases.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

type Opened = Engine<unknown>;
type Migrations = readonly Migration<unknown>[];
/** Opens the same database at each call. */
type Open = (migrations: Migrations) => Promise<Opened>;

async function makeSqlite(): Promise<Open> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-schema-'));
  cleanUps.push(() => rm(folder, { recursive: true }));
  const path = join(folder, 'rtc.sqlite');
  return (migrations) => openSqlite(path, { migrations, clock: systemClock, log: silentLog });
}

async function makePostgres(): Promise<Open> {
  const database = await createDatabase(await sharedPostgres());
  cleanUps.push(() => database.close());
  return (migrations) =>
    openPostgres({ url: database.url, poolSize: 1, migrations, clock: systemClock, log: silentLog });
}

/** Everything that SQLite knows of the schema: its statements, without the spaces that do not count. */
async function describeSqlite({ db }: Opened): Promise<readonly string[]> {
  const { rows } = await sql<{ type: string; name: string; text: string | null }>`
    select type, name, sql as text from sqlite_schema order by type, name`.execute(db);
  return rows.map(({ type, name, text }) => {
    const words = text?.replace(/\s+/g, ' ').replace(/(?<=\() | (?=[,)])/g, '');
    return `${type} ${name}: ${words}`;
  });
}

/** Columns, indexes, constraints, triggers and functions. */
async function describePostgres({ db }: Opened): Promise<readonly string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', 'column', attrelid::regclass, row_number() over (partition by attrelid order by attnum), attname,
        format_type(atttypid, atttypmod), attcollation::regcollation, attnotnull, attidentity, attgenerated,
        pg_get_expr(adbin, adrelid)) as line
      from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on (adrelid, adnum) = (attrelid, attnum)
      where relnamespace = current_schema()::regnamespace and attnum > 0 and not attisdropped
    union all select indexdef from pg_indexes where schemaname = current_schema()
    union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
      where connamespace = current_schema()::regnamespace
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select regexp_replace(pg_get_functiondef(oid), '\\s+', ' ', 'g') from pg_proc
      where pronamespace = current_schema()::regnamespace
    order by 1`.execute(db);
  return rows.map(({ line }) => line);
}

async function readApplied({ db }: Opened): Promise<readonly unknown[]> {
  const { rows } = await sql<{ name: string }>`select name from "rtcMigrations" order by name`.execute(db);
  return rows.map(({ name }) => name);
}

function names(migrations: Migrations): readonly string[] {
  return migrations.map(({ name }) => name);
}

/** A list to test the migrator with: two steps need the table of the first one, and engines differ in the third. */
const STEPS: Migrations = [
  {
    name: '001-recordings',
    up: (db, { text }) => db.schema.createTable('recordings').addColumn('id', text).execute(),
  },
  {
    name: '002-media-start',
    up: (db, { integer }) => db.schema.alterTable('recordings').addColumn('startedAt', integer).execute(),
  },
  {
    name: '003-search',
    up: async (db, { text }, engine) => {
      await (engine === 'SQLite'
        ? sql`create virtual table transcriptions using fts5 (words)`.execute(db)
        : db.schema.createTable('transcriptions').addColumn('words', text).execute());
    },
  },
  {
    name: '004-starts',
    up: (db) => db.schema.createIndex('starts').on('recordings').column('startedAt').execute(),
  },
  {
    name: '005-first',
    up: async (db) => void (await sql`insert into recordings (id) values ('a')`.execute(db)),
  },
];

/** Migrations take any row types, because they only run statements. */
const RELEASED = MIGRATIONS as readonly Migration<unknown>[];

describe('the first migration', () => {
  it('has the fingerprint of its tables in its name, so that those of an earlier build are refused', async () => {
    const engine = await (await makeSqlite())(RELEASED);
    const tables = (await describeSqlite(engine)).join('\n');
    await engine.close();
    const fingerprint = createHash('sha256').update(tables).digest('hex').slice(0, 8);
    expect(names(RELEASED)[0]).toBe(`001-baseline-${fingerprint}`);
  });
});

describe.each([
  ['SQLite', makeSqlite, describeSqlite],
  ['PostgreSQL', makePostgres, describePostgres],
] as const)('on %s', (_, make, describeSchema) => {
  it('migrations are applied in their order, each once', async () => {
    const open = await make();
    for (const count of [0, 1, 3, 3, STEPS.length]) {
      const migrations = STEPS.slice(0, count);
      const engine = await open(migrations);
      expect(await readApplied(engine)).toEqual(names(migrations));
      await engine.close();
    }
  });

  it('pending migrations are applied all or none', async () => {
    const open = await make();
    await (await open(STEPS.slice(0, 2))).close();
    const failing = { name: '004-fails', up: () => Promise.reject(new Error('no room left')) };
    await expect(open([...STEPS.slice(0, 3), failing])).rejects.toThrow('no room left');
    const engine = await open(STEPS.slice(0, 2));
    expect(await readApplied(engine)).toEqual(names(STEPS.slice(0, 2)));
    expect((await describeSchema(engine)).filter((line) => line.includes('transcriptions'))).toEqual([]);
    await engine.close();
  });

  it.each([
    ['001-recordings', STEPS],
    ['001-baseline', RELEASED.map(({ up }) => ({ name: '001-baseline', up }))],
  ])(
    'a database from before the first release with %s is refused and not changed',
    async (first, earlier) => {
      const open = await make();
      await (await open(earlier)).close();
      await expect(open(RELEASED)).rejects.toThrow(
        `made by an unreleased version of rtc-service: it has the migration "${first}"`,
      );
      const engine = await open(earlier);
      expect(await readApplied(engine)).toEqual(names(earlier));
      await engine.close();
    },
  );
});
