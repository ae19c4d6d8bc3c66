import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoomServiceClient } from 'livekit-server-sdk';
import { LAUNCHER } from '../../../test/support/parts/built.ts';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import { sampleProcess } from '../../support/process-figures.ts';
import { formatSpread, median } from '../../support/statistics.ts';
import {
  type Keys,
  latencies,
  measureTokens,
  type Pair,
  type Program,
  type Rounds,
  repeatedCall,
  speedsInTurns,
  startProgram,
} from './tokens.ts';

/*
 * `npm run bench` compares the service with the least that each task needs, in one run. The two sides of a pair alternate
 * (A B A B …), and the ratio is that of each pair, so that other load affects both.
 *
 * - POST /v1/token, beside a plain Fastify route with the same HMAC and livekit-server-sdk's token: by requests per second,
 * and by processor time for a request, which depends less on other load.
 * - GET /v1/rooms, beside livekit-server-sdk, called directly on the same real media server.
 * - Start and memory of the service as a process.
 */

const CONCURRENCY = 16;
const ROUNDS: Rounds = { rounds: 7, seconds: 1.5, concurrency: CONCURRENCY };
const ROOMS = 20;

const keys: Keys = { apiKey: 'benchkey', apiSecret: 'benchsecret-benchsecret-benchsecret' };
const dataDir = await mkdtemp(join(tmpdir(), 'rtc-bench-'));
const livekit = await startLivekit(keys);
let service: Program | undefined;
try {
  const startedAt = performance.now();
  service = await startService();
  const startMs = performance.now() - startedAt;
  const idleMb = await residentMb(service.pid);
  await benchTokens(service);
  await benchRooms(service.url);
  printFigure('start to listening', `${startMs.toFixed(0)} ms (to reach: 600)`);
  printFigure('resident when idle', `${idleMb.toFixed(0)} MB (to reach: 130)`);
} finally {
  service?.stop();
  await livekit.close();
  await rm(dataDir, { recursive: true });
}

async function benchTokens({ url, pid }: Program): Promise<void> {
  const { speeds, processorTimes } = await measureTokens({ url, pid, keys }, ROUNDS);
  printSpeeds('POST /v1/token, requests/s', speeds, 'to reach: 1 of bare Fastify');
  const [measured, floor] = middles(processorTimes);
  printFigure('POST /v1/token, processor time', `${measured} against ${floor} us`);
  const ratios = processorTimes.map(([a, b]) => b / a);
  printFigure('', `ratio ${formatSpread(ratios)}`);
}

async function benchRooms(serviceUrl: string): Promise<void> {
  const sdk = new RoomServiceClient(livekit.httpUrl, keys.apiKey, keys.apiSecret);
  for (let index = 0; index < ROOMS; index += 1) await sdk.createRoom({ name: `room-${index}` });
  const measured = repeatedCall(serviceUrl, { method: 'GET', path: '/v1/rooms' }, keys, CONCURRENCY);
  const direct = async (): Promise<void> => {
    await sdk.listRooms();
  };
  const speeds = await speedsInTurns(measured.call, direct, ROUNDS);
  printSpeeds('GET /v1/rooms, requests/s', speeds, 'to reach: 0.8 of livekit-server-sdk');
  const differences: number[] = [];
  for (let round = 0; round < ROUNDS.rounds; round += 1) {
    differences.push(median(await latencies(measured.call, 200)) - median(await latencies(direct, 200)));
  }
  printFigure('GET /v1/rooms, median above the SDK', `${formatSpread(differences)} ms (to reach: 1)`);
  await measured.close();
}

function printSpeeds(name: string, pairs: readonly Pair[], target: string): void {
  const [measured, floor] = middles(pairs);
  const ratios = pairs.map(([a, b]) => a / b);
  printFigure(name, `${measured} against ${floor}`);
  printFigure('', `ratio ${formatSpread(ratios)} (${target})`);
}

function middles(pairs: readonly Pair[]): readonly [string, string] {
  const middle = (index: 0 | 1): string => median(pairs.map((pair) => pair[index])).toFixed(0);
  return [middle(0), middle(1)];
}

function printFigure(name: string, figure: string): void {
  process.stdout.write(`${name.padEnd(40)} ${figure}\n`);
}

function startService(): Promise<Program> {
  return startProgram({
    args: [LAUNCHER, 'serve'],
    output: 'stderr',
    environment: {
      API_KEY: keys.apiKey,
      API_SECRET: keys.apiSecret,
      PORT: '0',
      DATA_DIR: dataDir,
      LIVEKIT_URL: livekit.url,
      RATE_LIMIT_API: '0',
      CI: 'true',
    },
  });
}

async function residentMb(pid: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return (await sampleProcess(pid)).residentMb;
}
