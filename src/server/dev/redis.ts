import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { Environment } from '../app/config/environment.ts';
import { type RunningChild, waitForReady } from './binaries/child-process.ts';
import { findOnPath, type Program } from './binaries/go-binary.ts';
import { nextFreePort, withFreePorts } from './free-port.ts';
import type { ProcessSupervisor } from './process-supervisor.ts';

const REDIS_PORT = 6379;

export type DevRedisSettings = {
  readonly environment: Environment;
  readonly dataDir: string;
  readonly supervisor: Pick<ProcessSupervisor, 'start'>;
};

export type DevRedis = { readonly url: URL; readonly child?: RunningChild };

/**
 * Uses REDIS_URL, or starts a server from PATH. Returns undefined without either: recording and ingress then respond with
 * 503.
 */
export async function startRedis(settings: DevRedisSettings): Promise<DevRedis | undefined> {
  const { environment } = settings;
  const { REDIS_URL: url } = environment;
  if (url) return { url: redisUrl(url) };
  const program = await findOnPath(['redis-server', 'valkey-server'], environment.PATH);
  if (program === undefined) return undefined;
  return await withFreePorts(() => startServer(settings, program));
}

async function startServer({ dataDir, supervisor }: DevRedisSettings, program: Program): Promise<DevRedis> {
  const port = await nextFreePort(REDIS_PORT);
  const child = supervisor.start({
    name: program.name,
    program: program.path,
    // Redis stores nothing on disk, because rooms end with their media server.
    args: [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      dataDir,
    ],
    logFile: join(dataDir, 'redis.log'),
  });
  await waitForReady(child, async () => (await processAt(port)) === child.pid);
  return { url: new URL(`redis://127.0.0.1:${port}`), child };
}

function redisUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['redis:', 'rediss:'].includes(url.protocol)) {
    throw new Error('REDIS_URL must be of the form redis://user:password@host:port/database, or rediss://.');
  }
  return url;
}

/** Returns host and port for messages, without the password. */
export function toAddress({ hostname, port }: URL): string {
  return `${hostname}:${port === '' ? REDIS_PORT : port}`;
}

/** Converts the URL to the `redis` section of LiveKit's configuration. */
export function livekitRedis(url: URL) {
  const { username, password, pathname, protocol } = url;
  return {
    address: toAddress(url),
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(/^\/\d+$/.test(pathname) ? { db: Number(pathname.slice(1)) } : {}),
    ...(protocol === 'rediss:' ? { use_tls: true } : {}),
  };
}

/** Returns the pid of the Redis on the port. Another server may have taken the port at the same moment. */
function processAt(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    let response = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      response += text;
      const [, pid] = /^process_id:(\d+)\r$/m.exec(response) ?? [];
      if (pid === undefined) return;
      resolve(Number(pid));
      socket.destroy();
    });
    socket.once('error', () => {}).once('close', () => resolve(undefined));
    socket.setTimeout(1000, () => socket.destroy());
    socket.write('INFO server\r\n');
  });
}
