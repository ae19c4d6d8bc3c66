import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ListParticipantsRequest } from '@livekit/protocol';
import { Pool } from 'undici';
import { openStore, type StoreOptions } from '../../src/server/app/open-store.ts';
import type { Store } from '../../src/server/app/store.ts';
import { startReconciler } from '../../src/server/media-events/reconciler.ts';
import { createLivekitMediaServer } from '../../src/server/platform/livekit/livekit-media-server.ts';
import type { Log } from '../../src/server/platform/log.ts';
import { systemClock, systemIds } from '../../src/server/platform/system.ts';
import { createRecordingFiles } from '../../src/server/recordings/files/create-recording-files.ts';
import { NO_DISPATCHER } from '../../src/server/webhooks/dispatcher/dispatcher.ts';
import { createDatabase, startPostgres } from '../../test/support/parts/postgres.ts';
import { formatSpread } from '../support/statistics.ts';

/*
 * `npm run bench:reconcile` measures the comparison with the media server that follows a start: 10,000 rooms with one
 * participant each. It also makes the same requests with the same tokens and ignores the responses, which is the lowest
 * possible cost. Figures are processor time of this process, which depends less on other load than elapsed time does.
 *
 * - "first": the database is empty, and everything is published.
 * - "restarted": the database has everything, and nothing is published.
 *
 * Options: `--rooms 10000`, `--rounds 5`, `--only sqlite` or `--only postgres`.
 */

const { values } = parseArgs({
  options: {
    rooms: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
  },
});
const ROOMS = Number(values.rooms);
const ROUNDS = Number(values.rounds);
/** The same limit as in the reconciler. */
const REQUESTS_AT_ONCE = 8;

const keys = { apiKey: 'benchkey', apiSecret: 'benchsecret-benchsecret-benchsecret' };
const silent: Log = { debug() {}, info() {}, warn: console.warn, error: console.error };
/** Seconds of processor time, and elapsed seconds. */
type Cost = { readonly processor: number; readonly passed: number };

printFigure(
  '',
  `${ROOMS} rooms with one person each; Node ${process.version}; ${cpus().length} x ${cpus()[0]?.model}`,
);
const mediaServer = await startMediaServer();
try {
  if (values.only !== 'postgres') await benchSqlite();
  if (values.only !== 'sqlite') await benchPostgres();
} finally {
  mediaServer.process.kill();
}

async function benchSqlite(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-bench-'));
  try {
    await benchDatabase('SQLite', { sqlitePath: join(folder, 'rtc.sqlite') });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function benchPostgres(): Promise<void> {
  const cluster = await startPostgres({ isDurable: true });
  const database = await createDatabase(cluster);
  try {
    await benchDatabase('PostgreSQL', { databaseUrl: database.url });
  } finally {
    await database.close();
    await cluster.close();
  }
}

async function benchDatabase(name: string, database: StoreOptions['database']): Promise<void> {
  const store = await openStore({ database, clock: systemClock, log: silent });
  try {
    // Warms up: the first requests compile code.
    await requestBare(mediaServer.url);
    const first = await compareEverything(store);
    const floorOfFirst = await requestBare(mediaServer.url);
    printFigure(`${name}, first`, show([first]));
    printFigure('  ratio to the requests', (first.processor / floorOfFirst.processor).toFixed(2));
    const pairs: (readonly [Cost, Cost])[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const reconciler = await compareEverything(store);
      pairs.push([reconciler, await requestBare(mediaServer.url)]);
    }
    printFigure(`${name}, restarted`, show(pairs.map(([reconciler]) => reconciler)));
    printFigure('  the requests alone', show(pairs.map(([, floor]) => floor)));
    printFigure(
      '  ratio to the requests',
      formatSpread(pairs.map(([reconciler, floor]) => reconciler.processor / floor.processor)),
    );
  } finally {
    await store.close();
  }
}

/** Measures from the start of a reconciler until it has compared everything. */
async function compareEverything(store: Store): Promise<Cost> {
  const { promise: compared, resolve } = Promise.withResolvers<void>();
  const livekit = createLivekitMediaServer({ ...keys, url: mediaServer.url, log: silent });
  const deps = { store, clock: systemClock, ids: systemIds, log: silent, instanceId: systemIds.next() };
  const recordingFiles = createRecordingFiles({
    clock: systemClock,
    storage: undefined,
    directory: tmpdir(),
  });
  return await measure(async () => {
    const reconciler = startReconciler({
      ...deps,
      mediaServer: livekit,
      recordingFiles,
      dispatcher: NO_DISPATCHER,
      onCompared: () => resolve(),
    });
    await compared;
    await reconciler.close();
  });
}

/** Requests the list of rooms, and the participants of each. */
async function requestBare(url: string): Promise<Cost> {
  const pool = new Pool(url, { connections: REQUESTS_AT_ONCE });
  const request = async (method: string, grant: object, body: Uint8Array): Promise<void> => {
    const response = await pool.request({
      method: 'POST',
      path: `/twirp/livekit.RoomService/${method}`,
      headers: { 'content-type': 'application/protobuf', authorization: `Bearer ${sign(grant)}` },
      body,
    });
    await response.body.dump();
  };
  const cost = await measure(async () => {
    await request('ListRooms', { roomList: true }, new Uint8Array());
    const names = Array.from({ length: ROOMS }, (_, index) => `room-${index}`).values();
    const work = async (): Promise<void> => {
      for (const room of names) {
        const body = new ListParticipantsRequest({ room }).toBinary();
        await request('ListParticipants', { roomAdmin: true, room }, body);
      }
    };
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  });
  await pool.close();
  return cost;
}

function sign(video: object): string {
  const seconds = Math.floor(Date.now() / 1000);
  const claims = { iss: keys.apiKey, nbf: seconds, exp: seconds + 600, video };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createHmac('sha256', keys.apiSecret).update(signed).digest('base64url')}`;
}

async function measure(work: () => Promise<void>): Promise<Cost> {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { processor: (user + system) / 1e6, passed: (performance.now() - startedAt) / 1e3 };
}

async function startMediaServer(): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const program = join(import.meta.dirname, 'reconcile-media-server.ts');
  const child = spawn(process.execPath, [program, String(ROOMS)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return { url: String(line).trim(), process: child };
}

function show(costs: readonly Cost[]): string {
  const processor = formatSpread(costs.map((cost) => cost.processor));
  return `${processor} s of processor time, ${formatSpread(costs.map(({ passed }) => passed))} s passed`;
}

function printFigure(name: string, figure: string): void {
  process.stdout.write(`${name.padEnd(24)} ${figure}\n`);
}
