import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import {
  createFleet,
  type Fleet,
  type FleetInstance,
} from '../../../test/server/webhooks/support/instance.ts';
import { mediaWebhook, roomFinished } from '../../../test/server/webhooks/support/media-webhook.ts';
import { type Livekit, startLivekit } from '../../../test/support/parts/livekit.ts';
import type { ExperimentContext, Findings, RunSize } from '../../experiment.ts';
import { atMost, exactly, type Figure, type Figures, named, observed } from '../../figures.ts';
import { fillSpeech } from '../../load/stored-speech.ts';
import { type EngineSettings, locateDatabase, onBothEngines } from '../../support/both-engines.ts';
import { fill, openFiller } from '../../support/fill.ts';
import { askUntil } from '../../support/poll.ts';
import { createSignedClient, mediaServerSettings, type SignedClient } from '../../support/signed-client.ts';
import { percentile, round } from '../../support/statistics.ts';
import { startRawServer } from '../raw-server.ts';
import { type Served, type Stage, whileServed } from '../well-behaved.ts';
import { type Answers, ATTACKS, type AttackName, attackByKey } from './attacks.ts';

const SECONDS = { long: 15, short: 0.4 } as const;
const SIZES = {
  long: { rooms: 1_000, webhooks: 20, events: 200_000, deliveries: 200_000 },
  short: { rooms: 20, webhooks: 2, events: 2_000, deliveries: 2_000 },
} as const;
const SEGMENTS = { long: 200_000, short: 2_000 } as const;
/** Nobody notices less. The p99 of a caller who is alone is a few milliseconds, of which twice would be noise. */
const OTHERS_BOUND_MS = 100;
const PROBE_EVERY_MS = 100;

export const [hostileKeysSqlite, hostileKeysPostgres] = onBothEngines('hostile-keys', attackAll);

type Attacked = {
  readonly fleet: Fleet;
  readonly instance: FleetInstance;
  readonly livekit: Livekit;
  /** Signs with the root key, and is never limited here. */
  readonly client: SignedClient;
  readonly hangingUrl: string;
  readonly countRows: () => Promise<Rows>;
};

async function attackAll(context: ExperimentContext, settings: EngineSettings): Promise<Findings> {
  const { runSize, report } = context;
  const attacked = await startAttacked(context, settings);
  const before = await attacked.countRows();
  const { fleet, instance } = attacked;
  const served: Served = { url: instance.url, pid: instance.pid, keys: fleet.keys };
  await whileServed(served, 'warm-up', () => delay(SECONDS[runSize] * 300));
  const calm = await whileWatched(attacked, 'calm', () => delay(SECONDS[runSize] * 1_000));
  const figures: Figure[] = [...calmFigures(calm)];
  for (const name of Object.keys(ATTACKS) as AttackName[]) {
    report(name);
    const { result: answers, ...seen } = await whileWatched(attacked, name, () =>
      attackOnce(attacked, name, runSize),
    );
    for (const line of seen.failures) report(`${name}: ${line}`);
    report(`${name}: ${describe(answers)}`);
    figures.push(...attackFigures(seen, answers), ...slowingFigures(runSize, calm.stage, seen.stage));
  }
  return {
    figures: [...figures, ...rowFigures(before, await attacked.countRows())],
    versions: { LiveKit: livekitServerVersion },
  };
}

async function startAttacked(context: ExperimentContext, settings: EngineSettings): Promise<Attacked> {
  const { runSize, cleanUp } = context;
  const livekit = cleanUp(await startLivekit());
  const fleet = cleanUp(
    await createFleet({
      ...settings,
      ...mediaServerSettings(livekit),
      // The service's own default, which a fleet turns off. The callers who are watched stay below it.
      RATE_LIMIT_API: '200',
      RECORDER_PATIENCE: '1',
    }),
  );
  const first = await fleet.start();
  for (let index = 0; index < SIZES[runSize].webhooks; index += 1) {
    const body = { url: `https://receiver.example/${index}`, events: ['transcription_failed'] };
    await fleet.call(first, 'POST', '/v1/webhooks', body);
  }
  await first.stop();
  await mkdir(fleet.dataDir, { recursive: true });
  const database = locateDatabase(fleet, settings);
  await fillSpeech(context, database, SEGMENTS[runSize]);
  const filler = await openFiller(database);
  await fill(filler, SIZES[runSize]);
  const countRows = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.keys(MOST_ROWS).map(async (table) => [table, await filler.count(table)] as const),
      ),
    );
  cleanUp(filler.close);
  const instance = await fleet.start();
  const client = cleanUp(createSignedClient(instance.url, fleet.keys, 8));
  const neverAnswering = cleanUp(await startRawServer(() => {}));
  return { fleet, instance, livekit, client, countRows, hangingUrl: neverAnswering.url };
}

/** Makes a key, lets it attack, and revokes it. */
async function attackOnce(
  { instance, client, hangingUrl }: Attacked,
  name: AttackName,
  runSize: RunSize,
): Promise<Answers> {
  const { json } = await client.call('POST', '/v1/keys', { name, ...ATTACKS[name].key });
  const keys = { apiKey: String(json.id), apiSecret: String(json.secret) };
  const answers = await attackByKey(name, {
    ...{ url: instance.url, keys, hangingUrl },
    seconds: SECONDS[runSize],
  });
  await client.call('DELETE', `/v1/keys/${keys.apiKey}`);
  return answers;
}

type Watched<Result> = {
  readonly stage: Stage;
  /** Durations of LiveKit's events until they were acknowledged. */
  readonly events: readonly number[];
  /** The faults that others saw. */
  readonly failures: readonly string[];
  readonly result: Result;
};

/** Calls the service as others do, reports events as LiveKit does, and asks `/ready` as Kubernetes does. */
async function whileWatched<Result>(
  { fleet, instance, livekit, client }: Attacked,
  name: string,
  work: () => Promise<Result>,
): Promise<Watched<Result>> {
  const over = new AbortController();
  const media = { apiKey: livekit.apiKey, apiSecret: livekit.apiSecret };
  const asked = Promise.all([
    askUntil(over.signal, PROBE_EVERY_MS, (count) =>
      client.post('/livekit/webhook', mediaWebhook(roomFinished(`${name} ${count}`), media)),
    ),
    askUntil(over.signal, PROBE_EVERY_MS, () => fetch(`${instance.url}/ready`)),
  ]);
  const served: Served = { url: instance.url, pid: instance.pid, keys: fleet.keys };
  const { stage, result } = await whileServed(served, name, work).finally(() => over.abort());
  const [events, ready] = await asked;
  const failures = [
    ...stage.failures,
    ...events.failures.map((outcome) => `an event of LiveKit: ${outcome}`),
    ...ready.failures.map((outcome) => `/ready: ${outcome}`),
  ];
  return { stage, events: events.timesMs, failures, result };
}

function calmFigures({ stage, events }: Watched<unknown>): Figures {
  return named('nobody attacks', [
    observed('others, p99', p99(stage.timesMs), ' ms'),
    observed('events of LiveKit, p99', p99(events), ' ms'),
  ]);
}

function attackFigures(
  { stage, events, failures }: Omit<Watched<Answers>, 'result'>,
  answers: Answers,
): Figures {
  const [bound, unit] = [OTHERS_BOUND_MS, ' ms'];
  const done = [...answers].filter(([status]) => status.startsWith('2'));
  const broken = [...answers].filter(([status]) => !/^[24]/.test(status) && status !== '503');
  return named(stage.name, [
    observed('requests that were done', sum(done)),
    observed('requests that were refused', sum([...answers]) - sum(done)),
    exactly('answers that are neither done, refused nor 503', sum(broken), 0),
    exactly('requests of others that failed', failures.length, 0),
    atMost({ name: 'others, p99', measured: p99(stage.timesMs), bound, unit }),
    atMost({ name: 'events of LiveKit, p99', measured: p99(events), bound, unit }),
  ]);
}

/** How much longer others wait as a rule. A short run has too few of them to say. */
function slowingFigures(runSize: RunSize, calm: Stage, { name, timesMs }: Stage): Figures {
  if (runSize === 'short') return [];
  const measured = round(percentile(timesMs, 0.5) / percentile(calm.timesMs, 0.5));
  return named(name, [
    atMost({ name: 'others, median, as a multiple of that when nobody attacks', measured, bound: 2 }),
  ]);
}

function sum(counts: readonly (readonly [string, number])[]): number {
  return counts.reduce((total, [, count]) => total + count, 0);
}

function describe(answers: Answers): string {
  return [...answers].map(([outcome, count]) => `${count} times ${outcome}`).join(', ');
}

function p99(times: readonly number[]): number {
  return Math.round(percentile(times, 0.99) * 10) / 10;
}

/** The most rows that one key may leave, by the service's defaults. */
const MOST_ROWS = {
  webhooks: 100,
  vocabularies: 1_000,
  plans: 1_000,
  blocks: 10_000,
  recordings: 0,
} as const;

/** Counts what all attacks together have left. Only one of them makes rows of each kind. */
function rowFigures(before: Rows, after: Rows): Figures {
  return Object.entries(MOST_ROWS).map(([table, bound]) =>
    atMost({ name: `rows left in ${table}`, measured: (after[table] ?? 0) - (before[table] ?? 0), bound }),
  );
}

type Rows = Readonly<Record<string, number>>;
