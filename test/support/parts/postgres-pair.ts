import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import {
  type Cluster,
  type ClusterFiles,
  findPostgresPrograms,
  findUnprivilegedUser,
  initialiseCluster,
  type RunningCluster,
  startCluster,
} from './postgres.ts';
import { freePort, runPart } from './run-part.ts';

/** A PostgreSQL server and its synchronous streaming replica, which has everything that the primary acknowledged. */
export interface PostgresPair {
  /** postgres://… of the current primary. A failover changes its port. */
  url(): string;
  readonly version: string;
  /** Kills the primary, and starts it again at the same address. */
  restart(): Promise<void>;
  /** Kills the primary and promotes the replica. */
  failOver(): Promise<void>;
  close(): Promise<void>;
}

/** Commits wait for the replica. fsync is off, because no machine crashes here. */
const SETTINGS = { synchronous_commit: 'on' };

export async function startPostgresPair(): Promise<PostgresPair> {
  const [first, second] = [await clusterIn('rtc-primary-'), await clusterIn('rtc-replica-')];
  const running: RunningCluster[] = [];
  const close = async () => {
    await Promise.all(running.map((server) => server.close()));
    for (const { folder } of [first, second]) await rm(folder, { recursive: true, force: true });
  };
  try {
    await initialiseCluster(first);
    let primary = await startCluster(first);
    running.push(primary);
    await copyCluster(first, second);
    const replica = await startCluster(second);
    running.push(replica);
    await query(primary.url, "alter system set synchronous_standby_names = '*'");
    await query(primary.url, 'select pg_reload_conf()');
    await untilSynchronous(primary.url);
    const [version = ''] = await query(primary.url, 'show server_version');
    return {
      url: () => primary.url,
      version: version.split(' ')[0] ?? '',
      restart: async () => {
        await primary.kill();
        // The dead server may not have been reaped yet. The next one would assume that it is alive.
        await rm(join(first.folder, 'data', 'postmaster.pid'), { force: true });
        primary = await startCluster(first);
        running.push(primary);
      },
      failOver: async () => {
        await primary.kill();
        await query(replica.url, 'select pg_promote()');
        primary = replica;
      },
      close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** Both have the same password, because the replica is a copy. */
const password = randomBytes(16).toString('hex');

async function clusterIn(prefix: string): Promise<Cluster> {
  const programs = await findPostgresPrograms();
  if (programs === undefined) throw new Error('PostgreSQL is not installed (initdb and postgres)');
  const user = process.getuid?.() === 0 ? await findUnprivilegedUser() : undefined;
  const folder = await mkdtemp(join(tmpdir(), prefix));
  const files: ClusterFiles = { programs, folder, password, user };
  return { ...files, isDurable: false, port: await freePort(), settings: SETTINGS };
}

async function copyCluster(primary: Cluster, replica: Cluster): Promise<void> {
  if (replica.user) await chown(replica.folder, replica.user.uid, replica.user.gid);
  const part = runPart({
    name: 'pg_basebackup',
    // PATH may contain links to initdb and postgres only.
    program: join(dirname(await realpath(join(primary.programs, 'initdb'))), 'pg_basebackup'),
    args: [
      ...['--host', '127.0.0.1', '--port', `${primary.port}`, '--username', 'test'],
      ...[
        '--pgdata',
        join(replica.folder, 'data'),
        '--write-recovery-conf',
        '--checkpoint',
        'fast',
        '--no-sync',
      ],
    ],
    cwd: replica.folder,
    env: { ...process.env, PGPASSWORD: primary.password },
    ...(replica.user ? { user: replica.user } : {}),
  });
  const status = await part.exited;
  if (status !== 0) throw new Error(`pg_basebackup failed:\n${part.output()}`);
}

async function untilSynchronous(url: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const [state] = await query(url, "select sync_state from pg_stat_replication where state = 'streaming'");
    if (state === 'sync') return;
    if (Date.now() > deadline) throw new Error(`the replica is ${state ?? 'not connected'}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Returns the first column of each row. */
async function query(url: string, text: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<string[]>({ text, rowMode: 'array' });
    return rows.map(([value = '']) => value);
  } finally {
    await client.end();
  }
}
