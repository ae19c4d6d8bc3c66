import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import type { Log } from '../../../../src/server/platform/log.ts';
import { createMigratedDatabase } from '../../../support/parts/migrated-database.ts';
import { type Database, startPostgres } from '../../../support/parts/postgres.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { type Network, startNetwork } from './network.ts';
import { expectUnavailable, newRecording } from './store-records.ts';
import { open, systemClock } from './test-databases.ts';

/* An 'error' event without a listener ends the run. vitest counts it as a failure of these tests. */

describe('the loss of PostgreSQL', () => {
  let database: Database;
  let admin: Client;
  /** Another session that holds locks. Within its own transaction, it sees an outdated pg_stat_activity. */
  let locker: Client;
  let store: Store;
  let warnings: unknown[];

  beforeEach(async () => {
    database = await createMigratedDatabase();
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    locker = new Client({ connectionString: database.url, application_name: 'locker' });
    await locker.connect();
    warnings = [];
    const log: Log = { ...silentLog, warn: (fields, message) => warnings.push({ ...fields, message }) };
    store = await openStore({ database: { databaseUrl: database.url }, clock: systemClock, log });
  });
  afterEach(async () => {
    await store.close();
    await Promise.all([admin.end(), locker.end()]);
    await database.close();
  });

  const others = `from pg_stat_activity where datname = current_database() and application_name = 'rtc-service'`;
  const terminateAll = () => admin.query(`select pg_terminate_backend(pid) ${others}`);
  const countAll = async (condition: string) =>
    Number((await admin.query(`select count(*) ${others} and ${condition}`)).rows[0].count);

  it('has no effect when no connection was in use', async () => {
    await Promise.all([store.ping(), store.ping(), store.ping()]);
    await terminateAll();
    await until(() => warnings.length === 3);
    expect(warnings[0]).toEqual({ code: '57P01', message: 'lost an idle database connection' });
    await store.ping();
  });

  it('fails an open transaction, of which nothing is kept', async () => {
    const lost = store.transaction(async ({ recordings }) => {
      await recordings.claim(newRecording('one'), 1000);
      await terminateAll();
      await until(async () => (await countAll('true')) === 0);
      await recordings.claim(newRecording('two', { room: 'another' }), 1000);
    });
    await expectUnavailable(lost, { retryable: true });
    expect(await store.recordings.list({ limit: 10 })).toEqual([]);
  });

  it('fails a transaction that is lost before its commit, with an error that says so', async () => {
    const lost = store.transaction(async ({ recordings }) => {
      await recordings.claim(newRecording('one'), 1000);
      await terminateAll();
      await until(async () => (await countAll('true')) === 0);
    });
    await expectUnavailable(lost, { retryable: true });
    expect(await store.recordings.list({ limit: 10 })).toEqual([]);
  });

  it('does not hide the error of the work itself', async () => {
    const reason = new Error('no');
    const lost = store.transaction(async ({ recordings }) => {
      await recordings.claim(newRecording('one'), 1000);
      await terminateAll();
      await until(async () => (await countAll('true')) === 0);
      throw reason;
    });
    await expect(lost).rejects.toBe(reason);
    expect(await store.recordings.list({ limit: 10 })).toEqual([]);
  });

  it('fails a running statement', async () => {
    await locker.query('begin; lock table recordings');
    const claim = expectUnavailable(store.recordings.claim(newRecording('one'), 1000), { retryable: true });
    await until(async () => (await countAll(`wait_event_type = 'Lock'`)) === 1);
    await terminateAll();
    await claim;
    await locker.query('rollback');
    expect(await store.recordings.claim(newRecording('one'), 1000)).toMatchObject({ claimed: true });
  });

  it('fails a statement that takes too long, and keeps the connection', async () => {
    const withoutLockTimeout = withParameter(database.url, 'lock_timeout', '0');
    const withLockTimeout = await open({
      databaseUrl: withParameter(withoutLockTimeout, 'statement_timeout', '1000'),
    });
    await withLockTimeout.ping();
    await locker.query('begin; lock table recordings');
    const { message } = await expectUnavailable(withLockTimeout.recordings.find('one'), { retryable: true });
    expect(message).toContain('took too long');
    await locker.query('rollback');
    expect(await withLockTimeout.recordings.find('one')).toBeUndefined();
    await withLockTimeout.close();
  });

  it('fails a statement that waits too long for a lock, and keeps the connection', async () => {
    await locker.query('begin; lock table recordings');
    const { message } = await expectUnavailable(store.recordings.find('one'), { retryable: true });
    expect(message).toContain('busy');
    await locker.query('rollback');
    expect(await store.recordings.find('one')).toBeUndefined();
  });

  it('rolls back a transaction of which a statement failed, though the work continues', async () => {
    const work = store.transaction(async ({ recordings }) => {
      await recordings.claim(newRecording('one'), 1000);
      const duplicate = recordings.claim(newRecording('one', { room: 'another' }), 1000);
      await expect(duplicate).rejects.toMatchObject({ code: '23505', detail: undefined });
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await store.recordings.list({ limit: 10 })).toEqual([]);
  });
});

describe('a network between us and PostgreSQL', () => {
  let database: Database;
  let network: Network;

  beforeEach(async () => {
    database = await createMigratedDatabase();
    network = await startNetwork(new URL(database.url));
  });
  afterEach(async () => {
    await network.close();
    await database.close();
  });

  it('may end and return while requests keep arriving', async () => {
    const store = await open({ databaseUrl: network.url(database.url) });
    await Promise.all([store.ping(), store.ping()]);
    await network.cut();
    for (const n of [1, 2, 3]) {
      await expectUnavailable(store.recordings.claim(newRecording(`id ${n}`), 1000), { retryable: true });
      await expectUnavailable(
        store.transaction((within) => within.ping()),
        { retryable: true },
      );
    }
    await network.mend();
    expect(await store.recordings.claim(newRecording('one'), 1000)).toMatchObject({ claimed: true });
    await store.close();
  });

  it('may become silent: the statement fails after a while, and its connection is not used again', async () => {
    const store = await open({
      databaseUrl: withParameter(network.url(database.url), 'query_timeout', '1500'),
    });
    await store.ping();
    network.silence();
    await expectUnavailable(store.ping(), { retryable: true });
    network.speak();
    await store.ping();
    expect(network.connections()).toBe(1);
    await store.close();
  });
});

describe('a crash of PostgreSQL', () => {
  it('makes it unavailable while it recovers, loses nothing that was acknowledged, and needs no restart of the service', async () => {
    const cluster = await startPostgres();
    // The shared cluster does not wait for its disk at a commit, to be fast.
    const databaseUrl = withParameter(cluster.url, 'options', '-c synchronous_commit=on');
    const store = await open({ databaseUrl });
    try {
      await store.recordings.claim(newRecording('before', { room: 'a' }), 1000);
      const victim = new Client({ connectionString: cluster.url });
      victim.on('error', () => {});
      const ended = new Promise((resolve) => victim.once('end', resolve));
      await victim.connect();
      const { pid } = (await victim.query('select pg_backend_pid() as pid')).rows[0];
      const underWay = store.transaction(async ({ recordings }) => {
        await recordings.claim(newRecording('during', { room: 'b' }), 1000);
        // If one process dies by a signal, the server ends all others and recovers.
        process.kill(pid, 'SIGKILL');
        await ended;
        await until(() =>
          store.ping().then(
            () => false,
            () => true,
          ),
        );
      });
      await expectUnavailable(underWay, { retryable: true });
      await until(() =>
        store.ping().then(
          () => true,
          (error) => expectUnavailable(Promise.reject(error), { retryable: true }).then(() => false),
        ),
      );
      const rows = await store.recordings.list({ limit: 10 });
      expect(rows.map((row) => row.id)).toEqual(['before']);
    } finally {
      await store.close();
      await cluster.close();
    }
  });
});

function withParameter(url: string, name: string, value: string): string {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed.href;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not come to pass in time');
    await delay(10);
  }
}
