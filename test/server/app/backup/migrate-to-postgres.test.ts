import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrateToPostgres } from '../../../../src/server/app/backup/migrate-to-postgres.ts';
import { addFunctions } from '../../../../src/server/platform/storage/sqlite/engine.ts';
import { rtcProcess } from '../../../cli/support/process.ts';
import { createDatabase, type Database } from '../../../support/parts/postgres.ts';
import { sharedPostgres } from '../../../support/parts/shared.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { open, systemClock } from '../../platform/storage/test-databases.ts';

describe('a migration from SQLite to PostgreSQL', () => {
  let dataDir: string;
  let target: Database;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'rtc-migrate-'));
    target = await createDatabase(await sharedPostgres());
    await (await open(sqlite())).close();
  });
  afterEach(async () => {
    await rm(dataDir, { recursive: true });
    await target.close();
  });

  const sqlite = () => ({ sqlitePath: join(dataDir, 'rtc.sqlite') });
  const migrate = () => migrateToPostgres({ dataDir, clock: systemClock, log: silentLog }, target.url);

  const inFile = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(sqlite().sqlitePath);
    addFunctions(database);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  const inTarget = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const client = new Client({ connectionString: target.url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  const listTables = (database: DatabaseSync): readonly string[] =>
    database
      .prepare(
        `select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite%'`,
      )
      .all()
      .map(({ name }) => String(name));

  /** Inserts rows into every table, of which a trigger may have inserted some. Events do not fit into one statement. */
  const fill = () =>
    inFile((database) => {
      database.exec('begin');
      for (const table of listTables(database).filter((name) => name !== 'rtcMigrations')) {
        const columns = database.prepare('select * from pragma_table_xinfo(?) where hidden = 0').all(table);
        const names = columns.map(({ name }) => `"${name}"`).join(', ');
        const insert = database.prepare(
          `insert or replace into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`,
        );
        for (let row = 1; row <= (table === 'events' ? 2345 : 3); row += 1) {
          insert.run(...columns.map((column) => sampleValue(column, row)));
        }
      }
      database.exec('commit');
    });

  const rowsIn = (table: string) =>
    inFile((database) => database.prepare(`select * from "${table}"`).all()).map((row) =>
      JSON.stringify({ ...row }),
    );
  const countInTarget = (table: string) =>
    inTarget(async (client) => Number((await client.query(`select count(*) from "${table}"`)).rows[0].count));

  it('copies every row of every table, and a store works with it', async () => {
    fill();
    inFile((database) =>
      database.exec(`update segments set text = 'Perché', language = 'it' where "searchKey" = 3`),
    );
    const before = inFile((database) => listTables(database).map((table) => [table, rowsIn(table)] as const));
    const migrated = await migrate();
    expect(migrated.map(({ table, rows }) => [table, rows])).toEqual(
      before.map(([table, rows]) => [table, rows.length]).toSorted(),
    );
    await inTarget(async (client) => {
      for (const [table, rows] of before) {
        const columns = Object.keys(JSON.parse(rows[0] ?? '{}')).map((name) => `"${name}"`);
        const stored = await client.query(`select ${columns.join(', ')} from "${table}"`);
        const integers = new Set(
          stored.fields.filter(({ dataTypeID }) => dataTypeID === 20).map(({ name }) => name),
        );
        const texts = stored.rows.map((row: Record<string, unknown>) =>
          JSON.stringify(row, (name, value: unknown) =>
            integers.has(name) && value !== null ? Number(value) : value,
          ),
        );
        expect([table, texts.toSorted()]).toEqual([
          table,
          rows.map((row) => row.replaceAll('\\u0000', '\uFFFD')).toSorted(),
        ]);
      }
    });
    const store = await open({ databaseUrl: target.url });
    await inTarget(async (client) => {
      const added = await client.query(
        `insert into segments (id, "transcriptionId", text, language, "startedAt", "endedAt")
        values ('later', 't', 'word', 'en', 0, 1) returning "searchKey"`,
      );
      expect(Number(added.rows[0].searchKey)).toBe(4);
      const found = await client.query(
        `select "searchKey" from segments where "searchTerms" @@ '''it:perc'''::tsquery`,
      );
      expect(found.rows).toEqual([{ searchKey: '3' }]);
    });
    const last = await store.events.list({ afterPosition: 2343, limit: 10 });
    expect(last.map(({ position }) => position)).toEqual([2344, 2345, Number.MAX_SAFE_INTEGER - 3]);
    await store.close();
    expect(await readdir(dataDir)).toEqual(['rtc.sqlite']);
    expect(inFile((database) => listTables(database).map((table) => [table, rowsIn(table)]))).toEqual(before);
  });

  it('is refused while a service has the database open, even an idle one', async () => {
    const store = await open(sqlite());
    await expect(migrate()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('is in use'),
    });
    await store.close();
    await expect(migrate()).resolves.not.toEqual([]);
  });

  it('is refused when the target is not empty', async () => {
    fill();
    await migrate();
    await expect(migrate()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('The PostgreSQL database is not empty'),
    });
    expect(await countInTarget('events')).toBe(2345);
  });

  it('leaves nothing behind when a copied row differs', async () => {
    fill();
    await (await open({ databaseUrl: target.url })).close();
    await inTarget((client) =>
      client.query(`
        create function spoil() returns trigger as $$ begin new.payload := 'spoilt'; return new; end $$ language plpgsql;
        create trigger spoil before insert on events for each row when (new.position = 1000)
          execute function spoil();`),
    );
    await expect(migrate()).rejects.toMatchObject({
      code: 'internal-error',
      message: expect.stringContaining('events is not the same in PostgreSQL: 2345 rows were sent and 2345'),
    });
    for (const table of ['deliveries', 'events']) expect(await countInTarget(table)).toBe(0);
    expect(await readdir(dataDir)).toEqual(['rtc.sqlite']);
  });

  it('accepts no password as an argument, but one from PGPASSWORD', async () => {
    const { password, ...parts } = splitParts(target.url);
    const run = (to: string, env: Readonly<Record<string, string>>) =>
      rtcProcess(['admin', 'migrate', '--to', to, '--json'], {
        env: { DATA_DIR: dataDir, ...env },
        cwd: dataDir,
      });
    const refused = await run(target.url, {});
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('PGPASSWORD') });
    expect(refused.stderr).not.toContain(password);
    const inQuery = await run(`${parts.withoutPassword}?password=${password}`, {});
    expect({ code: inQuery.code, stderr: inQuery.stderr }).toEqual({
      code: refused.code,
      stderr: refused.stderr,
    });
    const done = await run(parts.withoutPassword, { PGPASSWORD: password });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(done.stdout)).toMatchObject({ dataDir, key: 'file' });
  });
});

type ColumnInfo = Readonly<Record<string, unknown>>;

function sampleValue({ name, type, notnull }: ColumnInfo, row: number): SQLInputValue {
  if (notnull === 0 && row === 2) return null;
  if (type === 'REAL' || String(type).startsWith('double')) return row / 8;
  if (String(type).toLowerCase() === 'integer')
    return row === 3 && name !== 'searchKey' ? Number.MAX_SAFE_INTEGER - row : row;
  if (name === 'payload' || name === 'events' || name === 'scopes') return `["${name}", "è 🎉 ${row}"]`;
  return `${name} ${row}${row === 1 ? ' with \0' : ''}`;
}

function splitParts(url: string) {
  const parsed = new URL(url);
  const { password } = parsed;
  parsed.password = '';
  return { password, withoutPassword: parsed.href };
}
