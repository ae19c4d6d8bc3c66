import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { Pool } from 'undici';
import type { EmbeddedControl } from '../../../src/server/media-simulator/control.ts';
import { startEmbeddedMediaServer } from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemClock, systemIds } from '../../../src/server/platform/system.ts';
import {
  createFleet,
  type Fleet,
  type FleetInstance,
} from '../../../test/server/webhooks/support/instance.ts';
import { ABSENT_MEDIA } from '../../../test/server/webhooks/support/media-webhook.ts';
import { readPort } from '../../../test/support/forwarding-server.ts';
import { type CountingProxy, startCountingProxy, type Traffic } from '../../support/counting-proxy.ts';
import { openFiller } from '../../support/fill.ts';
import { sampleProcess } from '../../support/process-figures.ts';
import { type BenchReceiver, startReceiver } from '../webhooks/receiver.ts';
import type { Database } from '../webhooks/stage.ts';

/** Instances that share one database, with one webhook for all events. */
export type BenchStage = {
  readonly fleet: Fleet;
  readonly instances: readonly FleetInstance[];
  readonly receiver: BenchReceiver;
  readonly webhookId: string;
  readonly measure: (work: () => Promise<void>) => Promise<Spent>;
  readonly close: () => Promise<void>;
};

/** The cost of several operations. */
export type Spent = Traffic & {
  readonly serviceMs: number;
  /** Undefined for SQLite, whose work is done by the service's own process. */
  readonly databaseMs: number | undefined;
  readonly passedMs: number;
};

export type StageOptions = {
  readonly database: Database;
  readonly count: number;
  /** Whether proxies between the instances and PostgreSQL count the traffic. A proxy itself takes time. */
  readonly traffic: 'counted' | 'uncounted';
  /** Settings of all instances. */
  readonly environment?: Readonly<Record<string, string>>;
};

export async function openStage(stageOptions: StageOptions): Promise<BenchStage> {
  const { database, count, traffic, environment } = stageOptions;
  const { options, encryptionKey } = database;
  const url = 'databaseUrl' in options ? options.databaseUrl : undefined;
  const fleet = await createFleet({ ...environment, ENCRYPTION_KEY: encryptionKey.toString('base64') });
  const proxies: CountingProxy[] = [];
  const instances: FleetInstance[] = [];
  for (let index = 0; index < count; index += 1) {
    if (url !== undefined && traffic === 'counted') proxies.push(await startCountingProxy(url));
    const through = proxies[index]?.through(url ?? '') ?? url;
    instances.push(await fleet.start(through === undefined ? {} : { DATABASE_URL: through }));
  }
  const [first] = instances;
  if (first === undefined) throw new Error('there is no instance');
  const receiver = await startReceiver();
  const created = await fleet.call(first, 'POST', '/v1/webhooks', { url: receiver.url });
  const { id: webhookId }: { id?: unknown } = Object(created);
  const read = async (): Promise<Reading> => ({
    ...sum(proxies.map((proxy) => proxy.traffic())),
    service: await readRunTimes(instances.map(({ pid }) => pid)),
    database: url === undefined ? undefined : await readRunTimes(await serverProcesses(url)),
    passedMs: performance.now(),
  });
  return {
    fleet,
    instances,
    receiver,
    webhookId: String(webhookId),
    measure: async (work) => {
      const before = await read();
      await work();
      return difference(await read(), before);
    },
    close: async () => {
      // The next stage on this database registers its own receiver.
      await fleet.call(first, 'DELETE', `/v1/webhooks/${String(webhookId)}`);
      await fleet.close();
      for (const proxy of proxies) await proxy.close();
      receiver.close();
    },
  };
}

function sum(traffics: readonly Traffic[]): Traffic {
  const total = (what: keyof Traffic): number => traffics.reduce((all, one) => all + one[what], 0);
  return { statements: total('statements'), roundTrips: total('roundTrips'), bytes: total('bytes') };
}

/** The counters at one instant. */
type Reading = Traffic & {
  readonly service: RunTimes;
  readonly database: RunTimes | undefined;
  readonly passedMs: number;
};

function difference(after: Reading, before: Reading): Spent {
  const [first, last] = [before.database, after.database];
  return {
    statements: after.statements - before.statements,
    roundTrips: after.roundTrips - before.roundTrips,
    bytes: after.bytes - before.bytes,
    serviceMs: runMsBetween(before.service, after.service),
    databaseMs: first && last && runMsBetween(first, last),
    passedMs: after.passedMs - before.passedMs,
  };
}

/** A stage whose instances use the embedded media server, which runs in this process and is not measured. */
export type MediaStage = BenchStage & {
  readonly control: EmbeddedControl;
  /** Says whether the media server's events reach the instances, from now on. */
  readonly passEvents: (passes: 'all' | 'none') => void;
};

/** A recorder starts and ends at once, so that a round contains little idle time. */
const TIMINGS = { startMs: 20, startResponseMs: 10, recorderJoinMs: 20, activeMs: 50, finishMs: 20 };

const WORKER_LIFETIME_MS = 3_600_000;

export async function openMediaStage(options: StageOptions): Promise<MediaStage> {
  const recordingDir = await mkdtemp(join(tmpdir(), 'rtc-bench-recordings-'));
  const entrance = await startEntrance();
  const media = await startEmbeddedMediaServer({
    ...{ host: '127.0.0.1', port: 0, ...ABSENT_MEDIA, clock: systemClock, ids: systemIds, recordingDir },
    ...{ webhookUrls: [entrance.url], timings: TIMINGS },
  });
  const environment = { LIVEKIT_URL: media.url.replace('http', 'ws'), RECORDING_DIR: recordingDir };
  const stage = await openStage({ ...options, environment });
  entrance.open(stage.instances.map(({ url }) => url));
  await addSpeechWorker(stage, options);
  return {
    ...stage,
    control: media.control,
    passEvents: entrance.pass,
    close: async () => {
      await stage.close();
      await media.close();
      await entrance.close();
      await rm(recordingDir, { recursive: true, force: true });
    },
  };
}

/** Receives the media server's events, and passes each one to the next instance, as a proxy does. */
async function startEntrance() {
  let pools: readonly Pool[] = [];
  let passes: 'all' | 'none' = 'all';
  let next = 0;
  const forward = async (request: IncomingMessage): Promise<number> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const pool = pools[next++ % pools.length];
    if (pool === undefined || passes === 'none') return 200;
    const headers = {
      'content-type': request.headers['content-type'] ?? '',
      authorization: request.headers.authorization ?? '',
    };
    const response = await pool.request({ path: '/livekit/webhook', method: 'POST', headers, body });
    await response.body.dump();
    return response.statusCode;
  };
  const server = createServer(async (request, response) => {
    response.writeHead(await forward(request).catch(() => 502)).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${readPort(server)}`,
    open: (urls: readonly string[]) => {
      pools = urls.map((url) => new Pool(url));
    },
    pass: (which: 'all' | 'none') => {
      passes = which;
    },
    close: async () => {
      await Promise.all(pools.map((pool) => pool.destroy()));
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Adds the row of a living worker, without which no transcription starts. Nobody claims the transcriptions. */
async function addSpeechWorker({ fleet }: BenchStage, { database }: StageOptions): Promise<void> {
  const { options } = database;
  const file = { sqlitePath: join(fleet.dataDir, 'rtc.sqlite') };
  const filler = await openFiller('databaseUrl' in options ? { databaseUrl: options.databaseUrl } : file);
  await filler.run(`
    insert into "speechWorkers" (id, kind, languages, "failedModels", "aliveUntil")
    values ('bench-${systemIds.next()}', 'stt-live', '["en"]', '[]', ${Date.now() + WORKER_LIFETIME_MS})`);
  await filler.close();
}

/** The processor time of each process so far, with all its threads, in milliseconds. */
type RunTimes = ReadonlyMap<number, number>;

/** Reads them from Linux. A process that has ended is left out. */
async function readRunTimes(pids: readonly number[]): Promise<RunTimes> {
  const read = async (pid: number): Promise<readonly [number, number][]> =>
    sampleProcess(pid).then(
      ({ runMs }) => [[pid, runMs]],
      () => [],
    );
  return new Map((await Promise.all(pids.map(read))).flat());
}

/** Returns what the processes that are still there took in between. */
function runMsBetween(before: RunTimes, after: RunTimes): number {
  return [...after].reduce((sum, [pid, runMs]) => sum + runMs - (before.get(pid) ?? 0), 0);
}

/** Resolves to the ids of a local PostgreSQL server's processes: one for each connection, and its own. */
async function serverProcesses(url: string): Promise<readonly number[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = await findParent(`${rows[0]?.pid}`);
  await client.end();
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(names.map((name) => findParent(name).catch(() => '')));
  return names.filter((name, index) => name === postmaster || parents[index] === postmaster).map(Number);
}

async function findParent(pid: string): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The program's name is in parentheses and may contain spaces.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '';
}
