import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { LAUNCHER } from '../../test/support/parts/built.ts';
import { startProgram } from '../load/tokens.ts';
import { sampleProcess } from '../support/process-figures.ts';
import { median } from '../support/statistics.ts';

/*
 * Compares the start-up of the built rtc with an empty process of the same Node: `node proof/benches/cli.ts [rounds]`. The runs are
 * interleaved, so that other load on the machine affects all of them. Prints medians, and as noise the ratio of one empty
 * process to another. At the end it prints the memory of a service that nobody calls (Linux).
 */

const ROUNDS = Number(process.argv[2] ?? 40);
const MAX_IDLE_MB = 130;
const directory = await mkdtemp(join(tmpdir(), 'rtc-bench-cli-'));
const empty = join(directory, 'empty.mjs');
await writeFile(empty, '');
const { worker, url } = await startServer();

type Case = { readonly name: string; readonly argv: readonly string[]; readonly atMost?: number };

const CASES: readonly Case[] = [
  { name: 'an empty process', argv: [empty] },
  { name: 'another empty process', argv: [empty] },
  { name: 'rtc --help', argv: [LAUNCHER, '--help'], atMost: 1.6 },
  { name: 'rtc version', argv: [LAUNCHER, 'version'] },
  { name: 'rtc rooms --help', argv: [LAUNCHER, 'rooms', '--help'] },
  { name: 'rtc rooms list', argv: [LAUNCHER, 'rooms', 'list'], atMost: 4 },
];

const env = {
  PATH: process.env.PATH,
  HOME: directory,
  RTC_URL: url,
  RTC_API_KEY: 'bench-key',
  RTC_API_SECRET: 'bench-secret',
};

const times = new Map<string, number[]>(CASES.map(({ name }) => [name, []]));
for (const { argv } of CASES) runOnce(argv);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { name, argv } of CASES) times.get(name)?.push(runOnce(argv));
}

const base = median(times.get('an empty process') ?? []);
console.log(`Node ${process.versions.node}, ${ROUNDS} rounds; an empty process takes ${base.toFixed(1)} ms`);
for (const { name, atMost } of CASES.slice(1)) {
  const ratio = median(times.get(name) ?? []) / base;
  const figure = atMost === undefined ? '' : `  at most ${atMost}: ${ratio <= atMost ? 'kept' : 'MISSED'}`;
  console.log(`${name.padEnd(24)}${ratio.toFixed(2)}${figure}`);
}
await worker.terminate();
const idleMb = await measureIdleService();
console.log(
  `rtc serve, idle: ${idleMb.toFixed(0)} MB  at most ${MAX_IDLE_MB}: ${idleMb <= MAX_IDLE_MB ? 'kept' : 'MISSED'}`,
);
await rm(directory, { recursive: true, force: true });

function runOnce(argv: readonly string[]): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [...argv], { env, encoding: 'utf8' });
  const elapsed = performance.now() - startedAt;
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`);
  return elapsed;
}

/** Resolves to the resident memory of the service, some time after its start. */
async function measureIdleService(): Promise<number> {
  const keys = { API_KEY: 'bench-key', API_SECRET: 'bench-secret-of-32-characters-00' };
  const service = await startProgram({
    args: [LAUNCHER, 'serve'],
    output: 'stderr',
    environment: {
      ...keys,
      PORT: '0',
      DATA_DIR: join(directory, 'data'),
      LIVEKIT_URL: 'ws://127.0.0.1:9',
      CI: 'true',
    },
  });
  try {
    await delay(3_000);
    return (await sampleProcess(service.pid)).residentMb;
  } finally {
    service.stop();
  }
}

/**
 * Runs in its own thread, because this one blocks while it waits for the processes. It responds immediately, so that only
 * rtc is measured.
 */
async function startServer(): Promise<{ readonly worker: Worker; readonly url: string }> {
  const rooms = Array.from({ length: 20 }, (_, index) => ({
    sid: `RM_${index}`,
    name: `room-${index}`,
    emptyTimeout: 300,
    departureTimeout: 20,
    maxParticipants: 0,
    creationTime: '1767225600',
    creationTimeMs: '1767225600000',
    metadata: '',
    numParticipants: 3,
    numPublishers: 1,
    activeRecording: false,
  }));
  const program = `
    const { createServer } = require('node:http');
    const { parentPort, workerData } = require('node:worker_threads');
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end(workerData);
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
  const worker = new Worker(program, { eval: true, workerData: JSON.stringify({ rooms }) });
  const [port] = (await once(worker, 'message')) as [number];
  return { worker, url: `http://127.0.0.1:${port}` };
}
