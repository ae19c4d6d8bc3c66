import { createConnection } from 'node:net';
import { delimiter, join } from 'node:path';
import type { RunningChild } from '../adapters/media-binary/child-process.ts';
import { isExecutable } from '../adapters/media-binary/go-binary.ts';
import type { Environment } from '../config/config.ts';
import { nextFreePort } from './free-port.ts';
import type { Household } from './household.ts';
import { untilAnswering } from './until-answering.ts';

const REDIS_PORT = 6379;

export type DevRedisSettings = {
  readonly environment: Environment;
  readonly dataDir: string;
  readonly household: Pick<Household, 'start'>;
};

export type DevRedis = { readonly address: string; readonly child?: RunningChild };

/** REDIS_URL, or a server from the search path, or none: then recording and ingress answer 503. */
export async function startRedis({
  environment,
  dataDir,
  household,
}: DevRedisSettings): Promise<DevRedis | undefined> {
  const { REDIS_URL: url } = environment;
  if (url) return { address: redisAddress(url) };
  const program = await findOnPath(['redis-server', 'valkey-server'], environment.PATH ?? '');
  if (program === undefined) return undefined;
  const port = await nextFreePort(REDIS_PORT);
  const child = household.start({
    name: program.name,
    program: program.path,
    // Nothing is kept: a room does not outlive its media server.
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
  await untilAnswering(child, () => accepts(port));
  return { address: `127.0.0.1:${port}`, child };
}

function redisAddress(url: string): string {
  if (!URL.canParse(url) || new URL(url).protocol !== 'redis:') {
    throw new Error('REDIS_URL must be of the form redis://host:port.');
  }
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? REDIS_PORT : port}`;
}

async function findOnPath(
  names: readonly string[],
  searchPath: string,
): Promise<{ readonly name: string; readonly path: string } | undefined> {
  for (const name of names) {
    for (const folder of searchPath.split(delimiter).filter((part) => part !== '')) {
      const path = join(folder, name);
      if (await isExecutable(path)) return { name, path };
    }
  }
  return undefined;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.unref().once('connect', () => socket.destroy());
  });
}
