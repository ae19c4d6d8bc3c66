import { once } from 'node:events';
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPort } from '../../../support/forwarding-server.ts';
import { createDatabase, type Database } from '../../../support/parts/postgres.ts';
import { sharedPostgres } from '../../../support/parts/shared.ts';
import { startNetwork } from './network.ts';
import { expectUnavailable, newRecording } from './store-records.ts';
import { open } from './test-databases.ts';

describe('opening a PostgreSQL database', () => {
  let database: Database;

  beforeEach(async () => {
    database = await createDatabase(await sharedPostgres());
  });
  afterEach(() => database.close());

  const catchRefusal = async (change: (url: URL) => void, retryable = false) => {
    const url = new URL(database.url);
    change(url);
    const error = await expectUnavailable(open({ databaseUrl: url.href }), { retryable });
    // Prints the error with its causes, as a logger would.
    const printed = inspect(error, { depth: 10, showHidden: true });
    expect(printed).not.toContain(new URL(database.url).password);
    expect(printed).not.toContain('wrong-secret');
    return error.message;
  };

  it('leaves no connection behind when the store is closed without use', async () => {
    const sockets = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const before = sockets();
    const store = await open({ databaseUrl: database.url });
    await store.close();
    // The pool closes an idle connection by itself only after ten seconds.
    await expect.poll(sockets).toBe(before);
  });

  it('names the user whose password was rejected', async () => {
    const message = await catchRefusal((url) => {
      url.password = 'wrong-secret';
    });
    const { host } = new URL(database.url);
    expect(message).toBe(`PostgreSQL at ${host} refused the password of user "test". Correct DATABASE_URL.`);
  });

  it('reports a missing password', async () => {
    // pg leaves this connection open and waits for a password that is never sent. The network ends it.
    const network = await startNetwork(new URL(database.url));
    const message = await catchRefusal((url) => {
      url.host = new URL(network.url(database.url)).host;
      url.password = '';
    });
    await network.close();
    expect(message).toContain('asks for a password, and DATABASE_URL has none');
  });

  it('names a database that does not exist', async () => {
    const message = await catchRefusal((url) => {
      url.pathname = '/nowhere';
    });
    expect(message).toContain('has no database "nowhere". Create it: createdb nowhere');
  });

  it('names an address where nothing listens', async () => {
    const message = await catchRefusal((url) => {
      url.port = '1';
    }, true);
    expect(message).toBe('No PostgreSQL responds at 127.0.0.1:1. Start it, or correct DATABASE_URL.');
  });

  it('names an unknown host', async () => {
    const message = await catchRefusal((url) => {
      url.hostname = 'nowhere.invalid';
    }, true);
    expect(message).toContain('nowhere.invalid');
  });

  it('times out for a server that does not respond', async () => {
    const network = await startNetwork(new URL(database.url));
    network.silence();
    const { host } = new URL(network.url(database.url));
    const message = await catchRefusal((url) => {
      url.host = host;
    }, true);
    expect(message).toBe(`PostgreSQL at ${host} did not respond in time.`);
    await network.close();
  });

  it('rejects a server that is not PostgreSQL', async () => {
    const other = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const message = await catchRefusal((url) => {
      url.port = String(readPort(other));
    });
    expect(message).toContain('could not be opened');
    other.close();
  });

  it.each([
    'mysql://root:wrong-secret@localhost/rtc',
    'postgres//root:wrong-secret@localhost',
    'wrong-secret',
  ])('rejects an address of another form without repeating it', async (databaseUrl) => {
    const error = await expectUnavailable(open({ databaseUrl }), { retryable: false });
    expect(error.message).toContain('DATABASE_URL is not a PostgreSQL address');
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('wrong-secret');
  });

  it('rejects the database of a newer version and leaves it unchanged', async () => {
    const store = await open({ databaseUrl: database.url });
    await store.close();
    await query(database.url, `insert into "rtcMigrations" values ('999-from-the-future', 1)`);
    const schema = 'select table_name, column_name from information_schema.columns order by 1, 2';
    const applied = 'select name from "rtcMigrations" order by name';
    const before = [await query(database.url, schema), await query(database.url, applied)];
    const message = await catchRefusal(() => {});
    expect(message).toContain('newer version');
    expect(message).toContain('"999-from-the-future"');
    expect([await query(database.url, schema), await query(database.url, applied)]).toEqual(before);
  });

  it('rejects a database that cannot store every character', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await query(
      database.url,
      `create database ${name}_ascii encoding 'SQL_ASCII' locale 'C' template template0`,
    );
    const message = await catchRefusal((url) => {
      url.pathname = `/${name}_ascii`;
    });
    expect(message).toContain('has the encoding SQL_ASCII');
    await query(database.url, `drop database ${name}_ascii with (force)`);
  });

  it('rejects a read-only database and leaves it empty', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await query(database.url, `alter database ${name} set default_transaction_read_only = on`);
    expect(await catchRefusal(() => {})).toContain('is read-only');
    expect(await query(database.url, `select to_regclass('"rtcMigrations"') as found`)).toEqual([
      { found: null },
    ]);
  });

  it('names a user who may not create tables, and accepts one once the tables exist', async () => {
    const name = `guest_${new URL(database.url).pathname.slice(1)}`;
    await query(database.url, `create role ${name} login password 'guest'`);
    const asGuest = (url: URL) => {
      url.username = name;
      url.password = 'guest';
    };
    expect(await catchRefusal(asGuest)).toContain(`User "${name}" may not do this`);
    const owner = await open({ databaseUrl: database.url });
    await owner.close();
    await query(
      database.url,
      `grant select, insert, update, delete on all tables in schema public to ${name}`,
    );
    const url = new URL(database.url);
    asGuest(url);
    const store = await open({ databaseUrl: url.href });
    expect(await store.recordings.list({ limit: 1 })).toEqual([]);
    await store.close();
    await query(database.url, `drop owned by ${name}; drop role ${name}`);
  });

  it("compares text byte by byte, whatever the database's collation", async (context) => {
    const name = `${new URL(database.url).pathname.slice(1)}_icu`;
    const url = new URL(database.url);
    url.pathname = `/${name}`;
    try {
      const collation = `locale_provider icu icu_locale 'en-US' encoding 'UTF8' template template0`;
      await query(database.url, `create database ${name} ${collation}`);
    } catch {
      context.skip('this PostgreSQL has no ICU collations');
    }
    expect(await query(url.href, `select 'a' < 'B' as ordered`)).toEqual([{ ordered: true }]);
    const store = await open({ databaseUrl: url.href });
    for (const id of ['a', 'B']) await store.recordings.claim(newRecording(id, { room: id }), 1000);
    const rows = await store.recordings.list({ limit: 10 });
    await store.close();
    await query(database.url, `drop database ${name} with (force)`);
    expect(rows.map((row) => row.id)).toEqual(['a', 'B']);
  });

  it('shares a database with foreign tables', async () => {
    await query(database.url, 'create table cookies (name text)');
    const store = await open({ databaseUrl: database.url });
    await store.ping();
    await store.close();
  });
});

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
