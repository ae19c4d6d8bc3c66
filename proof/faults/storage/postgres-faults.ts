import { chown } from 'node:fs/promises';
import { Client } from 'pg';
import { findUnprivilegedUser } from '../../../test/support/parts/postgres.ts';
import { startPostgresServer } from '../../../test/support/parts/postgres-server.ts';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings, RunSize } from '../../experiment.ts';
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from '../../support/database-proxy.ts';
import {
  DISK_NOTE,
  findFigures,
  fullDisk,
  mayMount,
  mountSmallDisk,
  type SmallDisk,
  type StorageFault,
  startStorageStage,
} from './storage-stage.ts';

const SEED = 20_261_129;
const SLOW_MS = 300;
/** The service waits 15 s for a database that does not respond, and 5 s for a connection to it. */
const BOUND_MS = 25_000;
export const postgresFaults: Experiment = { name: 'postgres-faults', run: injectPostgresFaults };

async function injectPostgresFaults(context: ExperimentContext): Promise<Findings> {
  const { runSize, cleanUp } = context;
  // The server ends before its disk is removed.
  const disk = mountSmallDisk(context);
  const started = cleanUp(await startPostgresServer());
  const server = { ...started, url: await createDatabaseOn(disk, started.url) };
  const proxy = cleanUp(await startFaultyProxy(Number(new URL(server.url).port)));
  const url = new URL(server.url);
  url.port = `${proxy.port}`;
  const stage = await startStorageStage(context, { DATABASE_URL: url.href }, new Random(SEED));
  const faults = [
    ...findFaults(runSize, server, proxy),
    ...(mayMount && runSize === 'long' ? [fullDisk(disk, { seconds: 15, boundMs: BOUND_MS })] : []),
  ];
  return {
    figures: await findFigures(context, stage, { faults, refusals: 'may have been stored' }),
    versions: { PostgreSQL: server.version },
    notes: [`Seed ${SEED}.`, ...DISK_NOTE],
  };
}

type Server = Awaited<ReturnType<typeof startPostgresServer>>;

function findFaults(runSize: RunSize, server: Server, proxy: FaultyProxy): readonly StorageFault[] {
  const refusing = (name: string, seconds: number, begin: StorageFault['begin']): StorageFault => {
    return { name, seconds, boundMs: BOUND_MS, effect: 'refuses', begin };
  };
  const onProxy = (fault: ProxyFault) => async () => {
    proxy.setFault(fault);
    return () => proxy.setFault({ kind: 'none' });
  };
  const gone = refusing('while the server is gone', 10, async () => {
    await server.kill();
    return server.startAgain;
  });
  const locked = refusing('while its tables are locked', 15, () => lockTables(server.url));
  if (runSize === 'short') return [gone, locked].map((fault) => ({ ...fault, seconds: 2 }));
  const late = refusing('while its answers are late', 15, onProxy({ kind: 'delay', ms: SLOW_MS }));
  return [
    gone,
    refusing('while the server is frozen', 20, async () => {
      server.freeze();
      return server.thaw;
    }),
    { ...late, effect: 'slows' },
    refusing('while connections are reset', 10, onProxy({ kind: 'reset' })),
    locked,
    refusing('while it takes no writes', 10, async () => {
      await configure(server.url, 'alter system set default_transaction_read_only = on');
      return () => configure(server.url, 'alter system reset default_transaction_read_only');
    }),
  ];
}

/** Returns the URL of a database whose tables are on the disk. The log and the catalogue of the server stay where they are. */
async function createDatabaseOn({ folder }: SmallDisk, serverUrl: string): Promise<string> {
  const user = mayMount ? await findUnprivilegedUser() : undefined;
  if (user) await chown(folder, user.uid, user.gid);
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create tablespace small location '${folder}'`);
  await client.query('create database on_small_disk tablespace small');
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = '/on_small_disk';
  return url.href;
}

async function lockTables(url: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  await client.query('lock table events, deliveries, webhooks in access exclusive mode');
  return async () => {
    await client.query('rollback');
    await client.end();
  };
}

/** The setting takes effect for open connections too, at their next transaction. */
async function configure(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('set default_transaction_read_only = off');
  await client.query(statement);
  await client.query('select pg_reload_conf()');
  await client.end();
}
