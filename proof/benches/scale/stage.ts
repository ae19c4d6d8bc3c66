import { Client } from 'pg';
import { createFleet, type FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import { listDescendants, readProcess } from '../../../test/support/process-group.ts';
import { type CountingProxy, startCountingProxy, type Traffic } from '../../support/database-proxy.ts';
import { openFiller } from '../../support/fill.ts';
import { sampleProcess } from '../../support/process-figures.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import type { Database } from '../webhooks/stage.ts';

/** The cost of several operations. */
export type Spent = Traffic & {
  readonly serviceMs: number;
  /** Undefined for SQLite, whose work is done by the service's own process. */
  readonly databaseMs: number | undefined;
};

export type StageOptions = {
  readonly database: Database;
  readonly count: number;
  /** Whether proxies between the instances and PostgreSQL count the traffic. A proxy itself takes time. */
  readonly traffic: 'counted' | 'uncounted';
};

export type BenchStage = Awaited<ReturnType<typeof openStage>>;

/** Starts instances that share one database, with one webhook for all events. */
export async function openStage({ database, count, traffic }: StageOptions) {
  const { options, encryptionKey } = database;
  const url = 'databaseUrl' in options ? options.databaseUrl : undefined;
  const fleet = await createFleet({ ENCRYPTION_KEY: encryptionKey.toString('base64') });
  const proxies: CountingProxy[] = [];
  const instances: FleetInstance[] = [];
  for (let index = 0; index < count; index += 1) {
    if (url !== undefined && traffic === 'counted') proxies.push(await startCountingProxy(url));
    const through = proxies[index]?.through(url ?? '') ?? url;
    instances.push(await fleet.start(through === undefined ? {} : { DATABASE_URL: through }));
  }
  const [first] = instances;
  if (first === undefined) throw new Error('there is no instance');
  const receiver = await startReceiver();
  const created = await fleet.call(first, 'POST', '/v1/webhooks', { url: receiver.url });
  const { id: webhookId }: { id?: unknown } = Object(created);
  const read = async (): Promise<Reading> => ({
    ...sum(proxies.map((proxy) => proxy.traffic())),
    service: await readRunTimes(instances.map(({ pid }) => pid)),
    database: url === undefined ? undefined : await readRunTimes(await serverProcesses(url)),
  });
  return {
    fleet,
    instances,
    receiver,
    webhookId: String(webhookId),
    measure: async (work: () => Promise<void>) => {
      const before = await read();
      await work();
      return difference(await read(), before);
    },
    /** Lets PostgreSQL plan for the tables as they have become, as autovacuum does within a minute. */
    analyze: async () => {
      if (url === undefined) return;
      const filler = await openFiller({ databaseUrl: url });
      await filler.run('analyze');
      await filler.close();
    },
    close: async () => {
      // The next stage on this database registers its own receiver.
      await fleet.call(first, 'DELETE', `/v1/webhooks/${String(webhookId)}`);
      await fleet.close();
      for (const proxy of proxies) await proxy.close();
      receiver.close();
    },
  };
}

function sum(traffics: readonly Traffic[]): Traffic {
  const total = (what: keyof Traffic): number => traffics.reduce((all, one) => all + one[what], 0);
  return { statements: total('statements'), roundTrips: total('roundTrips'), bytes: total('bytes') };
}

/** The counters at one instant. */
type Reading = Traffic & {
  readonly service: RunTimes;
  readonly database: RunTimes | undefined;
};

function difference(after: Reading, before: Reading): Spent {
  const [first, last] = [before.database, after.database];
  return {
    statements: after.statements - before.statements,
    roundTrips: after.roundTrips - before.roundTrips,
    bytes: after.bytes - before.bytes,
    serviceMs: runMsBetween(before.service, after.service),
    databaseMs: first && last && runMsBetween(first, last),
  };
}

/** The processor time of each process so far, with all its threads, in milliseconds. */
type RunTimes = ReadonlyMap<number, number>;

/** Reads them from Linux. A process that has ended is left out. */
async function readRunTimes(pids: readonly number[]): Promise<RunTimes> {
  const read = async (pid: number): Promise<readonly [number, number][]> =>
    sampleProcess(pid).then(
      ({ runMs }) => [[pid, runMs]],
      () => [],
    );
  return new Map((await Promise.all(pids.map(read))).flat());
}

/** Returns what the processes that are still there took in between. */
function runMsBetween(before: RunTimes, after: RunTimes): number {
  return [...after].reduce((sum, [pid, runMs]) => sum + runMs - (before.get(pid) ?? 0), 0);
}

/** Resolves to the ids of a local PostgreSQL server's processes: one for each connection, and its own. */
async function serverProcesses(url: string): Promise<readonly number[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = (await readProcess(rows[0]?.pid ?? 0))?.parent ?? 0;
  await client.end();
  return [postmaster, ...(await listDescendants(postmaster)).map(({ pid }) => pid)];
}
