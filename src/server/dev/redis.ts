import { createConnection } from 'node:net';
import { delimiter, join } from 'node:path';
import type { RunningChild } from '../adapters/media-binary/child-process.ts';
import { isExecutable } from '../adapters/media-binary/go-binary.ts';
import type { Environment } from '../config/config.ts';
import { nextFreePort, withFreePorts } from './free-port.ts';
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
export async function startRedis(settings: DevRedisSettings): Promise<DevRedis | undefined> {
  const { environment } = settings;
  const { REDIS_URL: url } = environment;
  if (url) return { address: redisAddress(url) };
  const program = await findOnPath(['redis-server', 'valkey-server'], environment.PATH ?? '');
  if (program === undefined) return undefined;
  return await withFreePorts(() => startServer(settings, program));
}

type Program = { readonly name: string; readonly path: string };

async function startServer({ dataDir, household }: DevRedisSettings, program: Program): Promise<DevRedis> {
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
  await untilAnswering(child, async () => (await processAt(port)) === child.pid);
  return { address: `127.0.0.1:${port}`, child };
}

function redisAddress(url: string): string {
  if (!URL.canParse(url) || new URL(url).protocol !== 'redis:') {
    throw new Error('REDIS_URL must be of the form redis://host:port.');
  }
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? REDIS_PORT : port}`;
}

async function findOnPath(names: readonly string[], searchPath: string): Promise<Program | undefined> {
  for (const name of names) {
    for (const folder of searchPath.split(delimiter).filter((part) => part !== '')) {
      const path = join(folder, name);
      if (await isExecutable(path)) return { name, path };
    }
  }
  return undefined;
}

/** The process that answers there as a Redis: it may be one that was started at the same moment as ours. */
function processAt(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      const [, pid] = /^process_id:(\d+)\r$/m.exec(answer) ?? [];
      if (pid === undefined) return;
      resolve(Number(pid));
      socket.destroy();
    });
    socket.once('error', () => {}).once('close', () => resolve(undefined));
    socket.setTimeout(1000, () => socket.destroy());
    socket.write('INFO server\r\n');
  });
}
