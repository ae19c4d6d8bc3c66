import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createTimeOrderedIds } from '../../src/server/platform/clock.ts';
import { createFleet, type FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import {
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../test/server/webhooks/support/receiver.ts';
import { fakeClockFrom } from '../../test/support/parts/faketime.ts';
import { freePort } from '../../test/support/parts/run-part.ts';
import { SkippableClock } from '../../test/support/skippable-clock.ts';
import { type Experiment, type ExperimentContext, type Findings, makeFolder } from '../experiment.ts';
import { exactly, type Figures, named, none, observed } from '../figures.ts';
import { locateDatabase } from '../support/both-engines.ts';
import { startEmbeddedMedia } from '../support/embedded-media.ts';
import { openFiller } from '../support/fill.ts';
import { passTo, startPassingServer } from '../support/passing-server.ts';
import { findWithin } from '../support/poll.ts';
import { growthFigures, type Sample, sampleProcess } from '../support/process-figures.ts';
import {
  createSignedClient,
  listAll,
  mediaServerSettings,
  type SignedClient,
  startDatabase,
} from '../support/signed-client.ts';
import { sum } from '../support/statistics.ts';

export const long: Experiment = { name: 'long', run: runLong };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Days that pass, days that everything is kept, and hours of each step of the clocks. */
const SIZES = {
  long: { days: 30, keptDays: 7, stepHours: 2 },
  short: { days: 4, keptDays: 1, stepHours: 3 },
} as const;
type Size = (typeof SIZES)[keyof typeof SIZES];

const CONNECTIONS = 8;
/** After the clocks have moved, an event's three retries may be due. */
const DRAIN_STEPS = 4;
const RETENTIONS = ['EVENT', 'DELIVERY', 'SESSION', 'RECORDING', 'TRANSCRIPT', 'AUDIT', 'USAGE'];
/** What is due is deleted in the step after, or in the one after that. */
const DELETED_WITHIN = 2;
/** A table may differ between two moments by what is in flight. */
const ROWS_IN_FLIGHT = 5;
const TIMINGS = { startMs: 30, startResponseMs: 5, recorderJoinMs: 20, activeMs: 60, finishMs: 40 };
const QUIET_MS = 60;
type AliveSample = Sample & { readonly aliveMb: number };
/** Resident memory is mostly garbage: the process has far more than it needs, and does little. */
const ALIVE = {
  name: 'growth of what is alive after a collection of garbage',
  read: ({ aliveMb }: AliveSample) => aliveMb,
  boundMb: 3,
};
const END_PACE = { everyMs: 10, withinMs: 10_000 };
const PURGE_PACE = { everyMs: 100, withinMs: 10_000 };
/** The service compares its clock with the database's once a minute. */
const COMPARED_MS = 61_000;
const PATHS = ['/kept', '/rotated'];

const program = fileURLToPath(new URL('clocked-service-process.ts', import.meta.url));

async function runLong(context: ExperimentContext): Promise<Findings> {
  const [onSqlite, onPostgres] = await Promise.all([
    passDays(context, 'SQLite'),
    passDays(context, 'PostgreSQL'),
  ]);
  return { figures: [...named('SQLite', onSqlite), ...named('PostgreSQL', onPostgres)] };
}

/** Lets the days pass step by step, with load in each step, and judges what became of everything. */
async function passDays(context: ExperimentContext, engine: 'SQLite' | 'PostgreSQL'): Promise<Figures> {
  const { runSize, report } = context;
  const size: Size = SIZES[runSize];
  const stage = await startStage(context, engine, size);
  const work = new Work(stage);
  await work.begin();
  const steps = (size.days * 24) / size.stepHours;
  const stepsOfDay = 24 / size.stepHours;
  const samples: AliveSample[] = [];
  const rows = { half: new Map<string, number>(), end: new Map<string, number>() };
  for (let step = 0; step < steps; step += 1) {
    // The former key is kept for two days, as the documentation says.
    if (step === 2 * stepsOfDay) await stage.restart('both keys');
    if (step === 3 * stepsOfDay) await stage.restart('the new key');
    if (step >= 4 * stepsOfDay) samples.push(await stage.sample());
    await work.doStep(step);
    const isBefore = (moment: number): boolean => step < moment && step >= moment - 2 * stepsOfDay;
    if (isBefore(steps / 2)) await stage.measure(rows.half);
    if (isBefore(steps)) await stage.measure(rows.end);
    const until = stage.now() + size.stepHours * HOUR_MS;
    await stage.skip(size.stepHours * HOUR_MS);
    await work.endRooms();
    await stage.purgeUntil(until);
    if ((step + 1) % stepsOfDay === 0) {
      await work.checkEvents();
      report(`${engine}: day ${(step + 1) / stepsOfDay}, ${work.countDeliveries()} deliveries`);
    }
  }
  for (let step = 0; step < DRAIN_STEPS; step += 1) {
    await delay(5 * QUIET_MS);
    await stage.skip(HOUR_MS);
    await work.endRooms();
  }
  const share = 1 + DELETED_WITHIN / (stepsOfDay * size.keptDays);
  const grown = [...rows.end].filter(
    ([name, count]) => count > share * (rows.half.get(name) ?? 0) + ROWS_IN_FLIGHT,
  );
  for (const [name, count] of grown)
    report(`${engine}: ${name} grew from ${rows.half.get(name)} to ${count}`);
  return [
    observed('days', size.days),
    ...(await work.judge(report)),
    observed('rows and bytes that were compared', rows.end.size),
    exactly('tables and files that grew in the second half', grown.length, 0),
    ...(runSize === 'long' ? growthFigures(samples, CONNECTIONS, ALIVE) : []),
  ];
}

type Stage = Awaited<ReturnType<typeof startStage>>;

/** A service, its database and a media server, whose clocks move forward together. */
async function startStage(context: ExperimentContext, engine: 'SQLite' | 'PostgreSQL', size: Size) {
  const { cleanUp } = context;
  const clock = new SkippableClock();
  let aheadMs = 0;
  const folder = await makeFolder(context);
  await chmod(folder, 0o755);
  const file = join(folder, 'clock');
  const setDatabaseClock = async (): Promise<void> => {
    await writeFile(`${file}.new`, `+${aheadMs / 1000}\n`);
    await rename(`${file}.new`, file);
  };
  await setDatabaseClock();
  const environment = { ...fakeClockFrom(file), FAKETIME_NO_CACHE: '1' };
  const settings = engine === 'SQLite' ? {} : { DATABASE_URL: await startDatabase(context, { environment }) };
  const [port, clockPort] = [await freePort(), await freePort()];
  const recordingDir = join(folder, 'recordings');
  await mkdir(recordingDir);
  const { media, at } = await startEmbeddedMedia(context, {
    ...{ clock, ids: createTimeOrderedIds(clock), recordingDir, timings: TIMINGS },
    webhookUrls: [`http://127.0.0.1:${port}/livekit/webhook`],
  });
  // The responses of the media server have the time of its clock.
  const gate = await startPassingServer(context, async (request) => {
    const headers = { date: new Date(clock.now()).toUTCString() };
    return { ...(await passTo(media.url, request)), headers };
  });
  const [formerKey, newKey] = [makeKey(), makeKey()];
  const fleet = cleanUp(
    await createFleet({
      ...{ ...settings, ...mediaServerSettings(at(gate)) },
      ...{ RECORDING_DIR: recordingDir, CLOCK_PORT: `${clockPort}` },
      ...Object.fromEntries(RETENTIONS.map((name) => [`${name}_RETENTION`, `${size.keptDays}`])),
    }),
  );
  const start = (keys: string) =>
    fleet.start({ PORT: `${port}`, ENCRYPTION_KEY: keys, CLOCK_AHEAD_MS: `${aheadMs}` }, program);
  let instance: FleetInstance = await start(formerKey);
  const database = locateDatabase(fleet, settings);
  const filler = cleanUp(await openFiller(database));
  const now = () => clock.now();
  const skip = async (ms: number): Promise<void> => {
    aheadMs += ms;
    await setDatabaseClock();
    clock.skip(ms);
    await fetch(`http://127.0.0.1:${clockPort}/?ms=${ms}`);
  };
  return {
    ...{
      media,
      url: instance.url,
      keys: { ...fleet.keys, now },
      now,
      keptMs: size.keptDays * DAY_MS,
      lateMs: (DELETED_WITHIN * size.stepHours + 1) * HOUR_MS,
      cleanUp,
    },
    sample: async (): Promise<AliveSample> => {
      const sample = await sampleProcess(instance.pid);
      const alive = await (await fetch(`http://127.0.0.1:${clockPort}/alive`)).text();
      return { ...sample, aliveMb: Number(alive) / 1024 / 1024 };
    },
    /** Restarts the service with another ENCRYPTION_KEY. */
    restart: async (keys: 'both keys' | 'the new key'): Promise<void> => {
      await instance.stop();
      instance = await start(keys === 'both keys' ? `${newKey},${formerKey}` : newKey);
    },
    skip,
    /** Resolves when everything that has expired by then is deleted. */
    purgeUntil: async (until: number): Promise<void> => {
      const isPurged = async (): Promise<boolean> => {
        const [row] = await filler.read(`select value from counters where name = 'purgedAt'`);
        if (Number(row?.value) >= until) return true;
        // A comparison while the clocks were moved refuses to delete until the next one.
        await skip(COMPARED_MS);
        return false;
      };
      await findWithin(PURGE_PACE, isPurged);
    },
    countFiles: async () =>
      (await readdir(recordingDir, { recursive: true })).filter((name) => name.endsWith('.mp4')).length,
    /** Notes the highest number of rows of each table, and bytes of SQLite's file. */
    measure: async (highest: Map<string, number>): Promise<void> => {
      const note = (name: string, count: number) =>
        highest.set(name, Math.max(count, highest.get(name) ?? 0));
      for (const { name } of await filler.listTables()) note(name, await filler.count(name));
      if ('sqlitePath' in database) note('bytes of rtc.sqlite', (await stat(database.sqlitePath)).size);
    },
  };
}

function makeKey(): string {
  return randomBytes(32).toString('base64');
}

type Known = { readonly at: number };

/** Requests of each step, and what is known of the events, rooms and recordings that come of them. */
class Work {
  #requests = 0;
  #early = 0;
  #keptTooLong = 0;
  readonly #failures: string[] = [];
  readonly #known = new Map<string, Known>();
  readonly #rooms = new Set<string>();
  /** Rooms whose end was told. */
  readonly #ended = new Set<string>();
  readonly #recordings = new Map<string, Known>();
  readonly #secrets = new Map<string, string[]>();
  readonly #refused = new Map<string, number>();
  readonly #stage: Stage;
  readonly #client: SignedClient;
  #received: readonly Received[] = [];
  #rotated = '';
  #keptKey: SignedClient | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#client = stage.cleanUp(createSignedClient(stage.url, stage.keys, CONNECTIONS));
  }

  async begin(): Promise<void> {
    const { cleanUp, url, now } = this.#stage;
    const receiver = cleanUp(
      await startReceiver((_request, response, received) => {
        const { path, body } = received;
        if (path === PATHS[0] && body.event === 'room_finished') this.#ended.add(body.room.name);
        response.writeHead(this.#isRefused(received) ? 503 : 200).end();
      }),
    );
    this.#received = receiver.received;
    for (const path of PATHS) {
      const { json } = await this.#ask('POST /v1/webhooks', { url: `${receiver.url}${path}` });
      this.#secrets.set(path, [String(json.secret)]);
      this.#rotated = String(json.id);
    }
    const { json } = await this.#ask('POST /v1/keys', { name: 'kept', scopes: ['read'] });
    const keys = { apiKey: String(json.id), apiSecret: String(json.secret), now };
    this.#keptKey = cleanUp(createSignedClient(url, keys, 1));
  }

  /** The load of a step: rooms with people, one of which a plan closes in the next step, and everything that changes. */
  async doStep(step: number): Promise<void> {
    const { media, now } = this.#stage;
    const [open, planned] = [`room-${step}`, `planned-${step}`];
    const end = new Date(now() + HOUR_MS / 2).toISOString();
    await Promise.all([
      this.#ask(`PUT /v1/plans/${planned}`, { room: planned, closesAt: end, closingWarnings: [] }),
      this.#ask('POST /v1/rooms', { name: open }),
      this.#ask('POST /v1/token', { roomId: open, userId: 'ada', name: 'Ada', role: 'participant' }),
      this.#replaceKey(),
      this.#replaceWebhook(step),
      this.#replaceSecret(),
    ]);
    for (const [room, identity] of [
      [open, 'ada'],
      [open, 'bob'],
      [planned, 'eve'],
    ] as const) {
      media.control.join(room, { identity });
      media.control.publish(room, identity);
      this.#rooms.add(room);
    }
    await media.control.webhooksSettled();
    if (step % 4 === 0) await this.#record(open);
    await Promise.all(
      ['events', 'sessions', 'recordings', 'usage', 'audit'].map((list) => this.#ask(`GET /v1/${list}`)),
    );
    media.control.leave(open, 'bob');
    await this.#ask(`DELETE /v1/rooms/${open}`);
    if (step > 0) await this.#ask(`DELETE /v1/plans/planned-${step - 1}`);
    await media.control.webhooksSettled();
    const kept = await this.#keptKey?.call('GET', '/v1/events?limit=1');
    if (kept?.status !== 200) this.#failures.push(`the first key: ${kept?.status}`);
    await delay(QUIET_MS);
  }

  countDeliveries(): number {
    return this.#received.length;
  }

  /** Compares the stored events with those that were seen before, by their age. */
  async checkEvents(): Promise<void> {
    const { now, keptMs, lateMs } = this.#stage;
    await delay(QUIET_MS);
    const listed = await this.#listAll('events', (one) => [
      String(one.id),
      Date.parse(String(one.timestamp)),
    ]);
    for (const [id, at] of listed) this.#known.set(id, { at });
    for (const [id, { at }] of this.#known) {
      const ageMs = now() - at;
      if (ageMs < keptMs - lateMs && !listed.has(id)) this.#early += 1;
      if (ageMs > keptMs + lateMs && listed.has(id)) this.#keptTooLong += 1;
    }
  }

  async judge(report: (line: string) => void): Promise<Figures> {
    const { keptMs, lateMs, now, countFiles } = this.#stage;
    await this.checkEvents();
    const arrived = new Set(this.#received.map(identify));
    const lost = [...this.#known.keys()].flatMap((id) =>
      PATHS.filter((path) => !arrived.has(`${path} ${id}`)),
    );
    const recordings = await this.#listAll('recordings', (one) => [String(one.recordingId), 0]);
    const missing = [...this.#recordings].filter(
      ([id, { at }]) => now() - at < keptMs - lateMs && !recordings.has(id),
    );
    for (const line of this.#failures.slice(0, 10)) report(line);
    return [
      observed('requests', this.#requests),
      exactly('requests that failed', this.#failures.length, 0),
      observed('events', this.#known.size),
      observed('deliveries, with refused ones', this.#received.length),
      exactly('deliveries lost', lost.length, 0),
      none('deliveries with a wrong signature', this.#received, (one) => !this.#isSigned(one)),
      observed('deliveries sent again without a reason', this.#countRepeated()),
      observed('rooms', this.#rooms.size),
      exactly('rooms without an end that is told', this.#rooms.difference(this.#ended).size, 0),
      exactly('events deleted early', this.#early, 0),
      exactly('events kept too long', this.#keptTooLong, 0),
      observed('recordings', this.#recordings.size),
      exactly('recordings deleted early', missing.length, 0),
      exactly('files beside the listed recordings', (await countFiles()) - recordings.size, 0),
    ];
  }

  /** Waits until the plans have closed their rooms, before a plan is deleted or the clocks are moved on. */
  async endRooms(): Promise<void> {
    await findWithin(END_PACE, async () => this.#rooms.difference(this.#ended).size === 0);
  }

  async #record(room: string): Promise<void> {
    const { json } = await this.#ask(`POST /v1/rooms/${room}/recording/start`);
    await delay(150);
    await this.#ask(`POST /v1/rooms/${room}/recording/stop`);
    const id = String(json.egressId);
    const hasEnded = async () => (await this.#ask(`GET /v1/recordings/${id}`)).json.endedAt !== null;
    if (!(await findWithin({ everyMs: 50, withinMs: 10_000 }, hasEnded)))
      this.#failures.push('a recording does not end');
    this.#recordings.set(id, { at: this.#stage.now() });
  }

  async #replaceKey(): Promise<void> {
    const { json } = await this.#ask('POST /v1/keys', { name: 'hourly', scopes: ['read'] });
    await this.#ask(`DELETE /v1/keys/${json.id}`);
  }

  async #replaceWebhook(step: number): Promise<void> {
    const url = `https://example.com/${step}`;
    const { json } = await this.#ask('POST /v1/webhooks', { url, events: ['ingress_ended'] });
    await this.#ask(`DELETE /v1/webhooks/${json.id}`);
  }

  async #replaceSecret(): Promise<void> {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    this.#secrets.get('/rotated')?.push(secret);
    await this.#ask(`PUT /v1/webhooks/${this.#rotated}`, { secret });
  }

  #isSigned(received: Received): boolean {
    const header = received.headers['x-service-webhook-signature'];
    const secrets = this.#secrets.get(received.path) ?? [];
    return secrets.some((secret) => expectedSignatures(received, secret).specified === header);
  }

  /** One event in 32 is refused twice, and another one once: ids are base 32. */
  #isRefused(received: Received): boolean {
    const count = this.#refused.get(identify(received)) ?? 0;
    this.#refused.set(identify(received), count + 1);
    return count < countRefusals(received);
  }

  #countRepeated(): number {
    const arrivals = Map.groupBy(this.#received, identify);
    return sum([...arrivals.values()].map((all) => all.length - 1 - sum(all.slice(0, 1).map(countRefusals))));
  }

  async #listAll(
    list: 'events' | 'recordings',
    read: (one: Readonly<Record<string, unknown>>) => readonly [string, number],
  ): Promise<ReadonlyMap<string, number>> {
    const call: SignedClient['call'] = (method, path) => this.#ask(`${method} ${path}`);
    const all = listAll<Readonly<Record<string, unknown>>>({ call }, `/v1/${list}?limit=100`, list);
    return new Map(await Array.fromAsync(all, read));
  }

  async #ask(request: string, body?: object) {
    const [method = '', path = ''] = request.split(' ');
    this.#requests += 1;
    const response = await this.#client.call(method as Parameters<SignedClient['call']>[0], path, body);
    if (response.status < 200 || response.status >= 300)
      this.#failures.push(`${request}: ${response.status} ${response.text.slice(0, 200)}`);
    return response;
  }
}

function identify({ path, body }: Received): string {
  return `${path} ${body.id}`;
}

function countRefusals({ body }: Received): number {
  if (body.id.endsWith('7')) return 2;
  return body.id.endsWith('3') ? 1 : 0;
}
