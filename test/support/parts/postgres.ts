import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Client } from 'pg';
import { isExecutable } from '../../../src/server/dev/binaries/go-binary.ts';
import { freePort, runPart, untilReady, withFreshPorts } from './run-part.ts';

export interface Postgres {
  /** postgres://… of the cluster's own database. Suites create their own databases with {@link createDatabase}. */
  readonly url: string;
  close(): Promise<void>;
}

export interface Database {
  readonly url: string;
  /** Drops the database, and ends the remaining connections. */
  close(): Promise<void>;
}

/** Debian installs the server's programs outside of PATH, in a folder for each major version. */
const debianFolder = '/usr/lib/postgresql';
/** Users that the server may run as if the tests run as root. The server refuses to run as root. */
const unprivilegedUsers = ['postgres', 'nobody'];

export interface PostgresOptions {
  /** Whether commits wait for the disk, as by PostgreSQL's default. For measurements. */
  readonly isDurable?: boolean;
  /** Variables of the server, such as those of another clock. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder for its temporary folder; that of the system by default. */
  readonly parent?: string;
}

/**
 * Starts a real PostgreSQL cluster on loopback, in a temporary folder, without fsync, because a lost cluster costs nothing
 * here. It cannot be used to test the crash of a machine.
 */
export async function startPostgres({
  isDurable = false,
  environment = {},
  parent = tmpdir(),
}: PostgresOptions = {}): Promise<Postgres> {
  const programs = await findPostgresPrograms();
  if (programs === undefined) throw new Error('PostgreSQL is not installed (initdb and postgres)');
  const user = process.getuid?.() === 0 ? await findUnprivilegedUser() : undefined;
  const folder = await mkdtemp(join(parent, 'rtc-postgres-'));
  const password = randomBytes(16).toString('hex');
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    await initialiseCluster({ programs, folder, password, user });
    const cluster = await withFreshPorts(async () =>
      startCluster({ programs, folder, user, password, isDurable, environment, port: await freePort() }),
    );
    return { url: cluster.url, close: () => cluster.close().then(removeFolder) };
  } catch (cause) {
    await removeFolder();
    throw cause;
  }
}

/** Creates a database with a unique name in the cluster at `url`, empty or as a copy of the template. */
export async function createDatabase(
  cluster: Pick<Postgres, 'url'>,
  template?: Pick<Database, 'url'>,
): Promise<Database> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const copied = template === undefined ? '' : ` template ${new URL(template.url).pathname.slice(1)}`;
  await runStatement(cluster.url, `create database ${name}${copied}`);
  const url = new URL(cluster.url);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => runStatement(cluster.url, `drop database ${name} with (force)`) };
}

/** The owner and the folder of a cluster's files. initdb makes `data` in the folder. */
export interface ClusterFiles {
  readonly programs: string;
  readonly folder: string;
  readonly password: string;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

export interface Cluster extends ClusterFiles {
  readonly isDurable: boolean;
  readonly port: number;
  /** Settings that override the server's others. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface RunningCluster extends Postgres {
  /** Kills all of its processes. */
  kill(): Promise<void>;
}

/** Returns the folder with initdb and postgres: the first one on PATH, otherwise Debian's newest. */
export async function findPostgresPrograms(): Promise<string | undefined> {
  const versions = await readdir(debianFolder).catch(() => []);
  const newestFirst = versions.sort((one, other) => Number(other) - Number(one));
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...newestFirst.map((version) => join(debianFolder, version, 'bin')),
  ];
  for (const folder of folders) {
    if ((await isExecutable(join(folder, 'initdb'))) && (await isExecutable(join(folder, 'postgres'))))
      return folder;
  }
  return undefined;
}

export async function findUnprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of unprivilegedUsers) {
    const [, , uid, gid] = lines.find((fields) => fields[0] === name) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(`PostgreSQL does not run as root, and there is no user ${unprivilegedUsers.join(' or ')}`);
}

export async function initialiseCluster(cluster: ClusterFiles): Promise<void> {
  const passwordFile = join(cluster.folder, 'password');
  await writeFile(passwordFile, cluster.password, { mode: 0o600 });
  if (cluster.user) {
    for (const path of [cluster.folder, passwordFile]) await chown(path, cluster.user.uid, cluster.user.gid);
  }
  const part = runPart({
    name: 'initdb',
    program: join(cluster.programs, 'initdb'),
    args: [
      ...['--pgdata', join(cluster.folder, 'data'), '--username', 'test', '--pwfile', passwordFile],
      ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C.UTF-8', '--no-sync'],
    ],
    cwd: cluster.folder,
    ...(cluster.user ? { user: cluster.user } : {}),
  });
  const status = await part.exited;
  if (status !== 0) throw new Error(`initdb failed:\n${part.output()}`);
  await rm(passwordFile);
}

export async function startCluster(cluster: Cluster): Promise<RunningCluster> {
  const { port } = cluster;
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    ...(cluster.isDurable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...cluster.settings,
  };
  const part = runPart({
    name: 'postgres',
    program: join(cluster.programs, 'postgres'),
    args: [
      '-D',
      join(cluster.folder, 'data'),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    cwd: cluster.folder,
    env: { ...process.env, ...cluster.environment },
    // Fast shutdown. SIGTERM would wait until the clients disconnect.
    stopSignal: 'SIGINT',
    ...(cluster.user ? { user: cluster.user } : {}),
  });
  const url = `postgres://test:${cluster.password}@127.0.0.1:${port}/postgres`;
  const isReady = () => runStatement(url, 'select 1').then(() => true);
  await untilReady(part, 'postgres', { isReady });
  return { url, close: part.close, kill: part.kill };
}

async function runStatement(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
