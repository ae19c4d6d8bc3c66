import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort, runPart, untilReady } from '../../../test/support/parts/run-part.ts';

/*
 * Queues that others use to send webhooks, with the settings that make each fast and keep every job through a crash. They are
 * installed into a temporary folder when they are measured, so that nobody else has to install them.
 */

export const PEERS = { 'pg-boss': '12.38.0', 'graphile-worker': '0.18.0', BullMQ: '6.7.0' } as const;
const PACKAGES = [
  ...Object.entries(PEERS).map(([name, version]) => `${name.toLowerCase()}@${version}`),
  'ioredis@6.0.0',
];

/** Jobs that are stored, or fetched, at a time. */
const BATCH = 250;

type Send = () => Promise<void>;

export type Peer = {
  readonly name: keyof typeof PEERS;
  /** Stores the jobs. The worker calls `send` for each of them. */
  readonly add: (count: number) => Promise<void>;
  /** Returns whether the end of every job is stored. */
  readonly isDrained: () => Promise<boolean>;
  readonly close: () => Promise<unknown>;
};

type PeerDeps = {
  readonly databaseUrl: string;
  /** Sends one webhook. */
  readonly send: Send;
  readonly concurrency: number;
  /** The knowledge that a job needs. */
  readonly payload: object;
};

/** Installs the peers and starts a worker of each on the same PostgreSQL, and of BullMQ on a Redis that syncs each write. */
export async function startPeers(deps: PeerDeps): Promise<readonly Peer[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-peers-'));
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  await promisify(execFile)('npm', [...install, ...PACKAGES]);
  const load = createRequire(join(folder, 'index.js'));
  const bull = await startBullMq(load, deps, folder);
  const close = async (): Promise<void> => {
    await bull.close();
    await rm(folder, { recursive: true, force: true });
  };
  return [await startPgBoss(load, deps), await startGraphileWorker(load, deps), { ...bull, close }];
}

/** Resolves to the jobs per second, from the first that is stored to the stored end of the last one. */
export async function measurePeer({ add, isDrained }: Peer, count: number): Promise<number> {
  const startedAt = performance.now();
  for (let added = 0; added < count; added += BATCH) await add(Math.min(BATCH, count - added));
  while (!(await isDrained())) await delay(10);
  return (count * 1000) / (performance.now() - startedAt);
}

type PgBoss = {
  start(): Promise<unknown>;
  createQueue(name: string): Promise<unknown>;
  work(
    name: string,
    options: object,
    handler: (jobs: { readonly id: string }[]) => unknown,
  ): Promise<unknown>;
  insert(name: string, jobs: readonly object[]): Promise<unknown>;
  stop(): Promise<unknown>;
};

async function startPgBoss(load: NodeJS.Require, deps: PeerDeps): Promise<Peer> {
  const { databaseUrl, send, concurrency, payload } = deps;
  const { PgBoss } = load('pg-boss') as { PgBoss: new (options: object) => PgBoss };
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue('webhooks');
  const options = {
    batchSize: BATCH,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
    perJobResults: true,
  };
  await boss.work('webhooks', options, async (jobs) => {
    let left = jobs.length;
    const sendAll = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await send();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, sendAll));
    return jobs.map(({ id }) => ({ id, status: 'completed' }));
  });
  const asked = await openClient(databaseUrl);
  return {
    name: 'pg-boss',
    add: async (count) => void (await boss.insert('webhooks', Array(count).fill({ data: payload }))),
    isDrained: () => asked.isEmpty(`select from pgboss.job where state < 'completed' limit 1`),
    close: () => Promise.all([boss.stop(), asked.close()]),
  };
}

type GraphileWorker = {
  run(options: object): Promise<{ stop(): Promise<unknown> }>;
  makeWorkerUtils(options: object): Promise<{
    addJobs(jobs: readonly object[]): Promise<unknown>;
    release(): Promise<unknown>;
  }>;
  readonly Logger: new (factory: () => () => void) => object;
};

async function startGraphileWorker(load: NodeJS.Require, deps: PeerDeps): Promise<Peer> {
  const { databaseUrl, send, concurrency, payload } = deps;
  const { run, makeWorkerUtils, Logger } = load('graphile-worker') as GraphileWorker;
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger });
  const runner = await run({
    ...{ connectionString: databaseUrl, logger, concurrency, noHandleSignals: true, pollInterval: 500 },
    preset: { worker: { localQueue: { size: BATCH }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: { webhook: send },
  });
  const asked = await openClient(databaseUrl);
  return {
    name: 'graphile-worker',
    add: async (count) => void (await utils.addJobs(Array(count).fill({ identifier: 'webhook', payload }))),
    isDrained: () => asked.isEmpty('select from graphile_worker._private_jobs limit 1'),
    close: async () => {
      await runner.stop();
      await Promise.all([utils.release(), asked.close()]);
    },
  };
}

type BullMq = {
  readonly Queue: new (
    name: string,
    options: object,
  ) => {
    addBulk(jobs: readonly object[]): Promise<unknown>;
    getJobCountByTypes(...types: string[]): Promise<number>;
    close(): Promise<unknown>;
  };
  readonly Worker: new (name: string, send: Send, options: object) => { close(): Promise<unknown> };
};

async function startBullMq(load: NodeJS.Require, deps: PeerDeps, folder: string): Promise<Peer> {
  const { send, concurrency, payload } = deps;
  const { Queue, Worker } = load('bullmq') as BullMq;
  const port = await freePort();
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always', '--dir', folder];
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', ...durable];
  const redis = runPart({ name: 'redis-server', program: 'redis-server', args });
  await untilReady(redis, 'redis-server', {
    isReady: async () => redis.output().includes('Ready to accept'),
  });
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  const queue = new Queue('webhooks', { connection });
  const worker = new Worker('webhooks', send, { connection, concurrency });
  return {
    name: 'BullMQ',
    add: async (count) => void (await queue.addBulk(Array(count).fill({ name: 'webhook', data: payload }))),
    isDrained: async () => (await queue.getJobCountByTypes('wait', 'active')) === 0,
    close: async () => {
      await Promise.all([worker.close(), queue.close()]);
      await redis.close();
    },
  };
}

async function openClient(connectionString: string) {
  const client = new Client({ connectionString });
  await client.connect();
  return {
    isEmpty: async (query: string) => (await client.query(query)).rowCount === 0,
    close: () => client.end(),
  };
}
