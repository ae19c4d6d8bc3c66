import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool, type PoolClient } from 'pg';
import { openStore, type StoreOptions } from '../../src/server/app/open-store.ts';
import type { Store } from '../../src/server/app/store.ts';
import { createDatabase, startPostgres } from '../../test/support/parts/postgres.ts';
import { median } from '../support/statistics.ts';
import { benchDeliveries } from './store-deliveries.ts';

/*
 * `node proof/benches/store.ts` measures the cost of the query layer: claims and activations of recordings per second through the
 * store, as a ratio to the bare driver with the same statements on the same database. DATABASE_URL names a PostgreSQL in
 * which a database is created and dropped. Without it, one is started that does not wait for its disk, so that the cost of
 * the layer is as visible as possible. `--settled 1000000` fills the delivery log before the deliveries are measured.
 */

const ROUNDS = 7;

type Recorder = {
  /** Claims and activates `count` recordings from number `first` on, one after the other. */
  inSequence(first: number, count: number): Promise<void>;
  /** Does the same, 50 at a time. */
  atOnce(first: number, count: number): Promise<void>;
  /** Does the same, each in its own transaction. */
  inTransactions(first: number, count: number): Promise<void>;
  /** Does the same in one transaction. */
  inOneTransaction(first: number, count: number): Promise<void>;
};

const CONCURRENCY = 50;

async function benchSqlite(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-bench-'));
  const store = await openTimed({ sqlitePath: join(folder, 'store.sqlite') });
  const database = new DatabaseSync(join(folder, 'store.sqlite'), { timeout: 1000 });
  database.exec('pragma synchronous = full');
  try {
    console.log(
      `SQLite (synchronous full); one durable write blocks for ${blocksForMs(database).toFixed(2)} ms`,
    );
    await compare(throughStore(store), throughSqlite(database));
    database.exec('create table bare (n integer)');
    const write = database.prepare('insert into bare values (1)');
    await benchDeliveries(store, { settled, bareWrite: () => write.run() });
  } finally {
    database.close();
    await store.close();
    await rm(folder, { recursive: true });
  }
}

/** Returns how long one commit blocks the process. It mostly waits for the disk. */
function blocksForMs(database: DatabaseSync): number {
  database.exec('create table writes (n integer)');
  const write = database.prepare('insert into writes values (?)');
  const times = Array.from({ length: 300 }, (_, n) => {
    const start = performance.now();
    write.run(n);
    return performance.now() - start;
  });
  database.exec('drop table writes');
  return median(times);
}

async function benchPostgres(): Promise<void> {
  const given = process.env.DATABASE_URL;
  const cluster = given === undefined ? await startPostgres() : { url: given, close: async () => {} };
  const database = await createDatabase(cluster);
  const store = await openTimed({ databaseUrl: database.url });
  const pool = new Pool({ connectionString: database.url, max: 10 });
  try {
    console.log(
      given === undefined ? 'PostgreSQL (without waiting for its disk)' : 'PostgreSQL (DATABASE_URL)',
    );
    await compare(throughStore(store), throughPool(pool));
    await pool.query('create table bare (n integer)');
    await benchDeliveries(store, { settled, bareWrite: () => pool.query('insert into bare values (1)') });
  } finally {
    await pool.end();
    await store.close();
    await database.close();
    await cluster.close();
  }
}

function openTimed(database: StoreOptions['database']): Promise<Store> {
  return openStore({
    database,
    clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: (ms) => delay(ms) },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
}

async function compare(layer: Recorder, bare: Recorder): Promise<void> {
  const ways = [
    ['one after the other', 'inSequence', 300],
    ['50 at once', 'atOnce', 1000],
    ['50 transactions at once', 'inTransactions', 1000],
    ['1000 in one transaction', 'inOneTransaction', 1000],
  ] as const;
  let next = 0;
  for (const [title, way, count] of ways) {
    const rates = { ours: [] as number[], bare: [] as number[] };
    // The two alternate, so that other load affects both.
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, recorder] of [
        ['ours', layer],
        ['bare', bare],
      ] as const) {
        const start = performance.now();
        await recorder[way](next, count);
        rates[name].push((count / (performance.now() - start)) * 1000);
        next += count;
      }
    }
    const ratios = rates.ours.map((rate, round) => rate / (rates.bare[round] ?? Number.NaN));
    const noise = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    console.log(
      `  ${title}: ${Math.round(median(rates.ours))}/s, bare ${Math.round(median(rates.bare))}/s, ` +
        `ratio ${median(ratios).toFixed(2)} (${noise})`,
    );
  }
}

function throughStore(store: Store): Recorder {
  const record = async ({ recordings }: Store, n: number) => {
    const { id, room, filepath } = makeRecording(n);
    const claimed = { id, room, filepath, bucket: null, owner: 'bench', claimUntil: 2000 };
    const { recording } = await recordings.claim(claimed, 1000);
    await recordings.update(recording, { status: 'recording', egressId: `EG_${n}`, startedAt: 1001 });
  };
  return {
    inSequence: (first, count) => inSequence(first, count, (n) => record(store, n)),
    atOnce: (first, count) => atOnce(first, count, (n) => record(store, n)),
    inTransactions: (first, count) =>
      atOnce(first, count, (n) => store.transaction((within) => record(within, n))),
    inOneTransaction: (first, count) =>
      store.transaction((within) => inSequence(first, count, (n) => record(within, n))),
  };
}

const COLUMNS =
  '"egressId", "startedAt", "stoppedAt", "endedAt", "sizeBytes", "durationMs", "error", "id", "room", "filepath", "bucket", "claimUntil", "status", "claimOwner", "createdAt"';

function claimSql(parameter: (n: number) => string): string {
  const values = Array.from({ length: 15 }, (_, n) => parameter(n + 1)).join(', ');
  return `insert into "recordings" (${COLUMNS}) values (${values})
    on conflict ("room") where status in ('starting', 'recording') do nothing returning *`;
}

function claimValues(n: number): (string | number | null)[] {
  const { id, room, filepath } = makeRecording(n);
  const nothing = [null, null, null, null, null, null, null];
  return [...nothing, id, room, filepath, null, 2000, 'starting', 'bench', 1000];
}

function activateSql(p: (n: number) => string): string {
  return `update "recordings" set "egressId" = ${p(1)}, "startedAt" = ${p(2)}, "status" = ${p(3)},
    "claimOwner" = ${p(4)}, "claimUntil" = ${p(5)}
    where "id" = ${p(6)} and "status" = ${p(7)} and "claimOwner" = ${p(8)}`;
}

function activateValues(n: number): (string | number | null)[] {
  return [`EG_${n}`, 1001, 'recording', null, null, makeRecording(n).id, 'starting', 'bench'];
}

function throughSqlite(database: DatabaseSync): Recorder {
  const claim = database.prepare(claimSql(() => '?'));
  const activate = database.prepare(activateSql(() => '?'));
  const run = async (first: number, count: number) => {
    for (let n = first; n < first + count; n++) {
      claim.all(...claimValues(n));
      activate.run(...activateValues(n));
    }
  };
  const inOneTransaction = async (first: number, count: number) => {
    database.exec('begin immediate');
    await run(first, count);
    database.exec('commit');
  };
  return {
    inSequence: run,
    atOnce: run,
    inTransactions: async (first, count) => {
      for (let n = first; n < first + count; n++) await inOneTransaction(n, 1);
    },
    inOneTransaction,
  };
}

function throughPool(pool: Pool): Recorder {
  const claim = claimSql((n) => `$${n}`);
  const activate = activateSql((n) => `$${n}`);
  const record = async (client: Pool | PoolClient, n: number) => {
    await client.query(claim, claimValues(n));
    await client.query(activate, activateValues(n));
  };
  const inOneTransaction = async (first: number, count: number) => {
    const client = await pool.connect();
    await client.query('begin');
    await inSequence(first, count, (n) => record(client, n));
    await client.query('commit');
    client.release();
  };
  return {
    inSequence: (first, count) => inSequence(first, count, (n) => record(pool, n)),
    atOnce: (first, count) => atOnce(first, count, (n) => record(pool, n)),
    inTransactions: (first, count) => atOnce(first, count, (n) => inOneTransaction(n, 1)),
    inOneTransaction,
  };
}

function makeRecording(n: number) {
  return { id: `rec_${n}`, room: `room ${n}`, filepath: `room ${n}/2026-01-01.mp4` };
}

async function inSequence(first: number, count: number, work: (n: number) => Promise<void>): Promise<void> {
  for (let n = first; n < first + count; n++) await work(n);
}

async function atOnce(first: number, count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = first;
  const worker = async () => {
    while (next < first + count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

const { values } = parseArgs({ options: { settled: { type: 'string', default: '0' } } });
const settled = Number(values.settled);

await benchSqlite();
await benchPostgres();
