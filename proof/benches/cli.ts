import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readPort } from '../../test/support/forwarding-server.ts';
import { LAUNCHER } from '../../test/support/parts/built.ts';
import { createWholeBodyServer } from '../../test/support/whole-body-server.ts';
import { startProgram } from '../load/tokens.ts';
import { sampleProcess } from '../support/process-figures.ts';
import { median } from '../support/statistics.ts';

/*
 * Compares the start-up of the built rtc with an empty process of the same Node: `node proof/benches/cli.ts [rounds]`. The runs are
 * interleaved, so that other load on the machine affects all of them. Prints medians, and as noise the ratio of one empty
 * process to another. At the end it prints how long a service takes until its first answer, and its memory while nobody calls it
 * (Linux), beside a plain Fastify server with livekit-server-sdk.
 */

const BARE = fileURLToPath(new URL('../load/bare-server.ts', import.meta.url));
const ROUNDS = Number(process.argv[2] ?? 40);
const MAX_IDLE_MB = 130;
const START_ROUNDS = 5;

const folder = await mkdtemp(join(tmpdir(), 'rtc-bench-cli-'));
const empty = join(folder, 'empty.mjs');
await writeFile(empty, '');
const room = {
  sid: 'RM_1',
  name: 'demo',
  maxParticipants: 0,
  creationTime: 1_767_225_600,
  numParticipants: 3,
};
const rooms = JSON.stringify({ rooms: Array.from({ length: 20 }, () => room), nextCursor: null });
const server = createWholeBodyServer((_request, response) => {
  response.setHeader('content-type', 'application/json').end(rooms);
});
await once(server.listen(0, '127.0.0.1'), 'listening');

type Case = { readonly name: string; readonly argv: readonly string[]; readonly atMost?: number };

const CASES: readonly Case[] = [
  { name: 'an empty process', argv: [empty] },
  { name: 'another empty process', argv: [empty] },
  { name: 'rtc --help', argv: [LAUNCHER, '--help'], atMost: 1.6 },
  { name: 'rtc version', argv: [LAUNCHER, 'version'] },
  { name: 'rtc cf check', argv: [LAUNCHER, 'cf', 'check', 'RSSMRA85T10A562S'], atMost: 1.4 },
  { name: 'rtc rooms --help', argv: [LAUNCHER, 'rooms', '--help'] },
  { name: 'rtc rooms list', argv: [LAUNCHER, 'rooms', 'list'], atMost: 4 },
];

const times = new Map<string, number[]>(CASES.map(({ name }) => [name, []]));
for (const { argv } of CASES) await runOnce(argv);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { name, argv } of CASES) times.get(name)?.push(await runOnce(argv));
}
const base = median(times.get('an empty process') ?? []);
console.log(`Node ${process.versions.node}, ${ROUNDS} rounds; an empty process takes ${base.toFixed(1)} ms`);
for (const { name, atMost } of CASES.slice(1)) {
  const ratio = median(times.get(name) ?? []) / base;
  const figure = atMost === undefined ? '' : `  at most ${atMost}: ${ratio <= atMost ? 'kept' : 'MISSED'}`;
  console.log(`${name.padEnd(24)}${ratio.toFixed(2)}${figure}`);
}
server.close();
const starts = { 'rtc serve': [] as Start[], 'plain Fastify': [] as Start[] };
for (let round = 0; round < START_ROUNDS; round += 1) {
  starts['rtc serve'].push(await measureStart([LAUNCHER, 'serve'], 'stderr'));
  starts['plain Fastify'].push(await measureStart([BARE], 'stdout'));
}
for (const [name, measured] of Object.entries(starts)) {
  const [ms, mb] = [median(measured.map(({ ms }) => ms)), median(measured.map(({ idleMb }) => idleMb))];
  console.log(`${name}: first answer after ${ms.toFixed(0)} ms, idle with ${mb.toFixed(0)} MB`);
}
const idleMb = median(starts['rtc serve'].map(({ idleMb }) => idleMb));
console.log(`rtc serve, idle: at most ${MAX_IDLE_MB} MB: ${idleMb <= MAX_IDLE_MB ? 'kept' : 'MISSED'}`);
await rm(folder, { recursive: true, force: true });

async function runOnce(argv: readonly string[]): Promise<number> {
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, RTC_URL: `http://127.0.0.1:${readPort(server)}` },
    ...{ RTC_API_KEY: 'bench-key', RTC_API_SECRET: 'bench-secret' },
  };
  const startedAt = performance.now();
  const [status] = await once(spawn(process.execPath, argv, { env, stdio: 'ignore' }), 'exit');
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}`);
  return performance.now() - startedAt;
}

type Start = { readonly ms: number; readonly idleMb: number };

/** Measures the time until the first answer, whatever it is, and the resident memory some time later. */
async function measureStart(args: readonly string[], output: 'stdout' | 'stderr'): Promise<Start> {
  const environment = {
    ...{ API_KEY: 'bench-key', API_SECRET: 'bench-secret-of-32-characters-00', PORT: '0', CI: 'true' },
    ...{ DATA_DIR: join(folder, 'data'), LIVEKIT_URL: 'ws://127.0.0.1:9' },
  };
  const startedAt = performance.now();
  const program = await startProgram({ args, output, environment });
  try {
    await (await fetch(program.url)).arrayBuffer();
    const ms = performance.now() - startedAt;
    await delay(3_000);
    return { ms, idleMb: (await sampleProcess(program.pid)).residentMb };
  } finally {
    program.stop();
  }
}
