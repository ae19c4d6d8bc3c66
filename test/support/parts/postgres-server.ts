import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import {
  type Cluster,
  findPostgresPrograms,
  findUnprivilegedUser,
  initialiseCluster,
  startCluster,
} from './postgres.ts';
import { freePort } from './run-part.ts';

/** A PostgreSQL server that can be killed, restarted at its address, and frozen. */
export interface PostgresServer {
  readonly url: string;
  readonly version: string;
  kill(): Promise<void>;
  startAgain(): Promise<void>;
  /** Freezes all of its processes (Linux). */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

export async function startPostgresServer(): Promise<PostgresServer> {
  const programs = await findPostgresPrograms();
  if (programs === undefined) throw new Error('PostgreSQL is not installed (initdb and postgres)');
  const cluster: Cluster = {
    programs,
    folder: await mkdtemp(join(tmpdir(), 'rtc-postgres-')),
    password: randomBytes(16).toString('hex'),
    user: process.getuid?.() === 0 ? await findUnprivilegedUser() : undefined,
    // A killed server must keep what it acknowledged. No machine crashes here, so nothing waits for the disk.
    isDurable: false,
    settings: { synchronous_commit: 'on' },
    port: await freePort(),
  };
  const remove = () => rm(cluster.folder, { recursive: true, force: true });
  try {
    await initialiseCluster(cluster);
    let running = await startCluster(cluster);
    return {
      url: running.url,
      version: await readVersion(running.url),
      kill: () => running.kill(),
      startAgain: async () => {
        // The dead server may not have been reaped yet. The next one would assume that it is alive.
        await rm(join(cluster.folder, 'data', 'postmaster.pid'), { force: true });
        running = await startCluster(cluster);
      },
      freeze: () => signalAll(cluster.folder, 'SIGSTOP'),
      thaw: () => signalAll(cluster.folder, 'SIGCONT'),
      close: () => running.close().then(remove),
    };
  } catch (cause) {
    await remove();
    throw cause;
  }
}

/** Each process of a PostgreSQL server has its own process group. Their common parent identifies them. */
function signalAll(folder: string, signal: NodeJS.Signals): void {
  const parent = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ');
  for (const pid of [parent, ...children.map(Number)]) process.kill(pid, signal);
}

async function readVersion(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  await client.end();
  return rows[0]?.server_version.split(' ')[0] ?? '';
}
