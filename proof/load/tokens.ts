import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import { signatureHeaders } from '../../test/support/sign.ts';
import { sampleProcess } from '../support/process-figures.ts';
import { createSignedClient } from '../support/signed-client.ts';

type TokenTimes = {
  /** Requests per second. */
  readonly speeds: readonly Pair[];
  /** Microseconds of processor time for a request. */
  readonly processorTimes: readonly Pair[];
};

type Service = { readonly url: string; readonly pid: number; readonly keys: Keys };

export type Floor = 'livekit-server-sdk' | 'createHmac';

/** Measures POST /v1/token of the service beside a plain Fastify route that makes the same token by `by`. */
export async function measureTokens(service: Service, by: Floor, rounds: Rounds): Promise<TokenTimes> {
  const { keys } = service;
  const bare = await startProgram({
    args: [join(import.meta.dirname, 'bare-server.ts'), by],
    output: 'stdout',
    environment: { API_KEY: keys.apiKey, API_SECRET: keys.apiSecret },
  });
  try {
    return await compareTokens({ ...service, room: 'demo' }, { ...bare, keys, room: 'demo' }, rounds);
  } finally {
    bare.stop();
  }
}

/** Measures POST /v1/token of the service for a room with a plan beside one without. */
export async function measurePlannedTokens(service: Service, rounds: Rounds): Promise<TokenTimes> {
  const client = createSignedClient(service.url, service.keys, 1);
  const [opensAt, closesAt] = [-HOUR_MS, HOUR_MS].map((ms) => new Date(Date.now() + ms).toISOString());
  const plan = { prefix: 'lesson-', opensAt, closesAt, earlyJoin: 60, record: { at: 'role:host' } };
  const { status, text } = await client.call('PUT', '/v1/plans/lessons', plan);
  await client.close();
  if (status !== 201) throw new Error(`setting a plan: ${status} ${text}`);
  return await compareTokens({ ...service, room: 'lesson-1' }, { ...service, room: 'demo' }, rounds);
}

const HOUR_MS = 3_600_000;

type TokenServer = Service & { readonly room: string };

async function compareTokens(server: TokenServer, floor: TokenServer, rounds: Rounds): Promise<TokenTimes> {
  const repeat = ({ url, keys, room }: TokenServer) => {
    const body = JSON.stringify({ roomId: room, userId: 'ada', name: 'Ada Lovelace', role: 'participant' });
    return repeatedCall(url, { method: 'POST', path: '/v1/token', body }, keys, rounds.concurrency);
  };
  const [ours, plain] = [repeat(server), repeat(floor)];
  try {
    return {
      speeds: await speedsInTurns(ours.call, plain.call, rounds),
      processorTimes: await processorTimesInTurns(
        { call: ours.call, pid: server.pid },
        { call: plain.call, pid: floor.pid },
        rounds,
      ),
    };
  } finally {
    await Promise.all([ours.close(), plain.close()]);
  }
}

/** A value of the service and that of its floor, measured one after the other. */
export type Pair = readonly [measured: number, floor: number];

export type Rounds = { readonly rounds: number; readonly seconds: number; readonly concurrency: number };

type Call = () => Promise<void>;

/** A call, and the process that answers it. */
type Busy = { readonly call: Call; readonly pid: number };

/** Measures requests per second of both sides in turns (A B A B …), so that other load affects both. */
export async function speedsInTurns(measured: Call, floor: Call, rounds: Rounds): Promise<readonly Pair[]> {
  const { concurrency, seconds } = rounds;
  // Compiles code and opens connections.
  for (const call of [measured, floor]) await throughput(call, concurrency, Math.min(1, seconds));
  return await inTurns(measured, floor, {
    rounds: rounds.rounds,
    of: (call) => throughput(call, concurrency, seconds),
  });
}

/** Measures in turns how many microseconds of processor time each process uses for a request. */
function processorTimesInTurns(
  measured: Busy,
  floor: Busy,
  { rounds, seconds, concurrency }: Rounds,
): Promise<readonly Pair[]> {
  const perRequest = async ({ call, pid }: Busy): Promise<number> => {
    const before = await sampleProcess(pid);
    const perSecond = await throughput(call, concurrency, seconds);
    const after = await sampleProcess(pid);
    return ((after.runMs - before.runMs) * 1000) / ((perSecond * (after.at - before.at)) / 1000);
  };
  return inTurns(measured, floor, { rounds, of: perRequest });
}

type Turns<Side> = { readonly rounds: number; readonly of: (side: Side) => Promise<number> };

async function inTurns<Side>(measured: Side, floor: Side, { rounds, of }: Turns<Side>): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push([await of(measured), await of(floor)]);
  return pairs;
}

type SignedRequest = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string };

export type Keys = { readonly apiKey: string; readonly apiSecret: string };

/** Resolves to the requests per second, with `concurrency` calls at a time. */
async function throughput(call: () => Promise<void>, concurrency: number, seconds: number): Promise<number> {
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  let count = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      await call();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  return (count * 1000) / (performance.now() - startedAt);
}

/** Returns a function that sends the same signed request again and again over kept connections. */
export function repeatedCall(origin: string, request: SignedRequest, keys: Keys, connections: number) {
  const pool = new Pool(origin, { connections });
  const { method, path, body } = request;
  const signing = { ...keys, timestamp: Math.floor(Date.now() / 1000) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { ...signatureHeaders({ method, path, body }, signing), ...type };
  const call = async (): Promise<void> => {
    const response = await pool.request({ ...request, body: request.body ?? null, headers });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`${request.path} answered ${response.statusCode}`);
  };
  return { call, close: () => pool.close() };
}

export type Program = { readonly url: string; readonly pid: number; readonly stop: () => void };

type ProgramStart = {
  readonly args: readonly string[];
  /** The stream on which it prints its address. */
  readonly output: 'stdout' | 'stderr';
  readonly environment: Readonly<Record<string, string>>;
};

/** Starts one of our programs with Node and waits for the line with its address. */
export async function startProgram({ args, output, environment }: ProgramStart): Promise<Program> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', output === 'stdout' ? 'pipe' : 'ignore', output === 'stderr' ? 'pipe' : 'inherit'],
    env: { ...process.env, ...environment },
  });
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
  return { url, pid: child.pid, stop: () => child.kill() };
}
