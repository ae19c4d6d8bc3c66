import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { RoomServiceClient } from 'livekit-server-sdk';
import { startLivekit } from '../../test/support/parts/livekit.ts';
import { type Keys, latencies, median, repeatedCall, type SignedRequest, throughput } from './load.ts';

/*
 * `npm run bench` compares the service with the least that each task needs, in one run. The two sides of a pair alternate
 * (A B A B …), and the ratio is that of each pair, so that other load affects both.
 *
 * - POST /v1/token, beside a plain Fastify route with the same HMAC and livekit-server-sdk's token: by requests per second,
 * and by processor time for a request, which depends less on other load.
 * - GET /v1/rooms, beside livekit-server-sdk, called directly on the same real media server.
 * - Start and memory of the service as a process.
 */

const ROUNDS = 7;
const SECONDS = 1.5;
const CONCURRENCY = 16;
const ROOMS = 20;

const root = join(import.meta.dirname, '..', '..');
const keys: Keys = { apiKey: 'benchkey', apiSecret: 'benchsecret-benchsecret-benchsecret' };
const dataDir = await mkdtemp(join(tmpdir(), 'rtc-bench-'));
const children: ChildProcess[] = [];
const livekit = await startLivekit(keys);
try {
  const startedAt = performance.now();
  const service = await startService();
  const startMs = performance.now() - startedAt;
  const idleMb = await residentMb(service.pid);
  await benchTokens(service);
  await benchRooms(service.url);
  printFigure('start to listening', `${startMs.toFixed(0)} ms (to reach: 600)`);
  printFigure('resident when idle', `${idleMb.toFixed(0)} MB (to reach: 130)`);
} finally {
  for (const child of children) child.kill();
  await livekit.close();
  await rm(dataDir, { recursive: true });
}

async function benchTokens(service: Server): Promise<void> {
  const bare = await startProcess([join(import.meta.dirname, 'bare-server.ts')], 'stdout');
  const body = JSON.stringify({ roomId: 'demo', userId: 'ada', name: 'Ada Lovelace', role: 'participant' });
  const request: SignedRequest = { method: 'POST', path: '/v1/token', body };
  const measured = repeatedCall(service.url, request, keys, CONCURRENCY);
  const floor = repeatedCall(bare.url, request, keys, CONCURRENCY);
  const target = 'to reach: 1 of bare Fastify';
  await compare('POST /v1/token, requests/s', measured.call, floor.call, target);
  await compareTime('POST /v1/token, processor time', [measured.call, service.pid], [floor.call, bare.pid]);
  await Promise.all([measured.close(), floor.close()]);
}

async function benchRooms(serviceUrl: string): Promise<void> {
  const sdk = new RoomServiceClient(livekit.httpUrl, keys.apiKey, keys.apiSecret);
  for (let index = 0; index < ROOMS; index += 1) await sdk.createRoom({ name: `room-${index}` });
  const measured = repeatedCall(serviceUrl, { method: 'GET', path: '/v1/rooms' }, keys, CONCURRENCY);
  const direct = async (): Promise<void> => {
    await sdk.listRooms();
  };
  await compare('GET /v1/rooms, requests/s', measured.call, direct, 'to reach: 0.8 of livekit-server-sdk');
  const differences: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    differences.push(median(await latencies(measured.call, 200)) - median(await latencies(direct, 200)));
  }
  printFigure('GET /v1/rooms, median above the SDK', `${spread(differences, 2)} ms (to reach: 1)`);
  await measured.close();
}

async function compare(
  name: string,
  measured: () => Promise<void>,
  floor: () => Promise<void>,
  target: string,
): Promise<void> {
  await throughput(measured, CONCURRENCY, 1);
  await throughput(floor, CONCURRENCY, 1);
  const pairs: (readonly [number, number])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const a = await throughput(measured, CONCURRENCY, SECONDS);
    pairs.push([a, await throughput(floor, CONCURRENCY, SECONDS)]);
  }
  const ratios = pairs.map(([a, b]) => a / b);
  printFigure(
    name,
    `${median(pairs.map(([a]) => a)).toFixed(0)} against ${median(pairs.map(([, b]) => b)).toFixed(0)}`,
  );
  printFigure('', `ratio ${spread(ratios, 2)} (${target})`);
}

type Busy = readonly [call: () => Promise<void>, pid: number];

/** Compares the processor time that both processes use for a request. The ratio is that of speeds. */
async function compareTime(name: string, measured: Busy, floor: Busy): Promise<void> {
  const perRequest = async ([call, pid]: Busy): Promise<number> => {
    const before = await runningUs(pid);
    const count = (await throughput(call, CONCURRENCY, SECONDS)) * SECONDS;
    return ((await runningUs(pid)) - before) / count;
  };
  const pairs: (readonly [number, number])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const a = await perRequest(measured);
    pairs.push([a, await perRequest(floor)]);
  }
  const us = (index: 0 | 1): string => median(pairs.map((pair) => pair[index])).toFixed(0);
  printFigure(name, `${us(0)} against ${us(1)} us`);
  printFigure(
    '',
    `ratio ${spread(
      pairs.map(([a, b]) => b / a),
      2,
    )}`,
  );
}

/** Microseconds of processor time of all threads of a process so far (Linux). */
async function runningUs(pid: number): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const times = tasks.map(async (task) => {
    const text = await readFile(`/proc/${pid}/task/${task}/schedstat`, 'utf8');
    return Number(text.split(' ')[0]) / 1000;
  });
  return (await Promise.all(times)).reduce((sum, time) => sum + time, 0);
}

function spread(values: readonly number[], digits: number): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(digits)} [${low.toFixed(digits)} … ${high.toFixed(digits)}]`;
}

function printFigure(name: string, figure: string): void {
  process.stdout.write(`${name.padEnd(40)} ${figure}\n`);
}

type Server = { readonly url: string; readonly pid: number };

async function startService(): Promise<Server> {
  return await startProcess([join(root, 'bin', 'rtc.js'), 'serve'], 'stderr', {
    PORT: '0',
    DATA_DIR: dataDir,
    LIVEKIT_URL: livekit.url,
    RATE_LIMIT_API: '0',
    CI: 'true',
  });
}

/** Starts one of our programs and waits for the line with its address. */
async function startProcess(
  args: readonly string[],
  output: 'stdout' | 'stderr',
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', output === 'stdout' ? 'pipe' : 'ignore', output === 'stderr' ? 'pipe' : 'inherit'],
    env: { ...process.env, API_KEY: keys.apiKey, API_SECRET: keys.apiSecret, ...env },
  });
  children.push(child);
  const stream = child[output];
  if (stream === null || child.pid === undefined) throw new Error('the program has no output');
  const url = await new Promise<string>((resolve, reject) => {
    const lines = createInterface({ input: stream }).on('line', (line) => {
      const found = /http:\/\/[\w.:]+/.exec(line);
      if (found === null) return;
      resolve(found[0]);
      // The log continues. Reading it line by line would take time from the process that sends the requests.
      lines.close();
      stream.resume();
    });
    void once(child, 'exit').then(() => reject(new Error('the program ended before it listened')));
  });
  return { url, pid: child.pid };
}

async function residentMb(pid: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
