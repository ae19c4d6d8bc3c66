import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createFleet, type Fleet, type FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { mediaWebhook, roomFinished } from '../../test/server/webhooks/support/media-webhook.ts';
import type { ExperimentContext, Findings, RunSize } from '../experiment.ts';
import { atLeast, atMost, type Figure, type Figures, observed } from '../figures.ts';
import { type EngineSettings, locateDatabase, onBothEngines } from '../support/both-engines.ts';
import { fill, openFiller, type Size } from '../support/fill.ts';
import { coreShare, sampleProcess } from '../support/process-figures.ts';
import { createSignedClient, type SignedClient, timeCalls } from '../support/signed-client.ts';
import { percentile, round } from '../support/statistics.ts';
import { startProgram } from './tokens.ts';

const SIZES: Readonly<Record<RunSize, Size & { readonly tailers: number }>> = {
  long: { rooms: 10_000, webhooks: 1_000, events: 1_000_000, deliveries: 200_000, tailers: 100 },
  short: { rooms: 100, webhooks: 10, events: 2_000, deliveries: 1_000, tailers: 10 },
};

const PAGES = { long: 200, short: 3 } as const;
const TAILED_EVENTS = { long: 20, short: 2 } as const;
const IDLE_SECONDS = { long: 60, short: 1 } as const;
const PAGE_BOUND_MS = 20;
const POLL_MS = 100;
const WAIT_SECONDS = 20;
const PAUSE_MS = 200;
const LIMIT = 50;

export const [bigDataSqlite, bigDataPostgres] = onBothEngines('big-data', measure);

async function measure(context: ExperimentContext, settings: EngineSettings): Promise<Findings> {
  const { runSize, report, cleanUp } = context;
  const size = SIZES[runSize];
  const LIVEKIT_URL = await startMediaServer(context, size.rooms);
  const fleet = cleanUp(await createFleet({ ...settings, LIVEKIT_URL }));
  const first = await fleet.start();
  const published = await untilCompared(fleet, first, size.rooms);
  report(`${size.rooms} rooms were compared in ${Math.round(published)} ms`);
  const webhookId = await registerWebhooks(fleet, first, size.webhooks);
  await first.stop();
  const filler = await openFiller(locateDatabase(fleet, settings));
  await fill(filler, size);
  await filler.close();
  report('the database is filled');
  const instance = await fleet.start();
  // Waits for the comparison that follows a start.
  await delay(runSize === 'long' ? 20_000 : 500);
  const client = cleanUp(createSignedClient(instance.url, fleet.keys, size.tailers + 1));
  const pages = await pageFigures(client, webhookId, runSize);
  const readers = await readerFigures(instance, client, runSize);
  return {
    figures: [
      atLeast({ name: 'rooms', measured: size.rooms, bound: size.rooms }),
      observed('first comparison, which publishes the events of all rooms', Math.round(published), ' ms'),
      ...pages,
      ...readers,
    ],
  };
}

async function startMediaServer({ cleanUp }: ExperimentContext, rooms: number): Promise<string> {
  const args = [join(import.meta.dirname, 'many-rooms-media-server.ts'), String(rooms)];
  const program = await startProgram({ args, output: 'stdout', environment: {} });
  cleanUp(program.stop);
  return program.url;
}

/** Resolves to the milliseconds until every room has its session. */
async function untilCompared(fleet: Fleet, instance: FleetInstance, rooms: number): Promise<number> {
  const startedAt = performance.now();
  const client = createSignedClient(instance.url, fleet.keys, 1);
  let missing = rooms;
  let cursor = '';
  while (missing > 0) {
    const path = `/v1/events?types=room_started&limit=100&wait=5${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { json } = await client.call('GET', path);
    missing -= Array.isArray(json.events) ? json.events.length : 0;
    cursor = encodeURIComponent(String(json.nextCursor));
  }
  const passed = performance.now() - startedAt;
  await client.close();
  return passed;
}

/** Registers webhooks that receive no event here. Returns the id of the first. */
async function registerWebhooks(fleet: Fleet, instance: FleetInstance, count: number): Promise<string> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = { url: `https://receiver.example/${index}`, events: ['transcription_failed'] };
    const { id }: { id?: unknown } = Object(await fleet.call(instance, 'POST', '/v1/webhooks', body));
    ids.push(String(id));
  }
  return ids[0] ?? '';
}

async function pageFigures(client: SignedClient, webhookId: string, runSize: RunSize): Promise<Figures> {
  const figures: Figure[] = [];
  for (const listing of listings(webhookId)) {
    // Warms up: the first pages open connections and compile code.
    await timePages(client, listing, 3);
    const times = await timePages(client, listing, PAGES[runSize]);
    const p99 = { name: `page of 50 ${listing.name}, p99`, measured: round(percentile(times, 0.99)) };
    figures.push(atMost({ ...p99, bound: PAGE_BOUND_MS, unit: ' ms' }));
  }
  return figures;
}

async function readerFigures(
  { pid }: FleetInstance,
  client: SignedClient,
  runSize: RunSize,
): Promise<Figures> {
  const tailers = startTailers(client, SIZES[runSize].tailers);
  // All tailers wait for an event after this time.
  await delay(10 * POLL_MS);
  const times = await tailers.follow(TAILED_EVENTS[runSize]);
  const before = await sampleProcess(pid);
  await delay(IDLE_SECONDS[runSize] * 1_000);
  const share = round(100 * coreShare(before, await sampleProcess(pid)));
  await tailers.close();
  const used = {
    name: 'processor time of the idle instance with waiting readers',
    measured: share,
    bound: 1,
    unit: ' % of a core',
  };
  return [
    atLeast({
      name: 'events that reached all readers',
      measured: times.length / SIZES[runSize].tailers,
      bound: TAILED_EVENTS[runSize],
    }),
    observed('event at a waiting reader, median', round(percentile(times, 0.5)), ' ms'),
    observed('event at a waiting reader, p99', round(percentile(times, 0.99)), ' ms'),
    atMost(used),
  ];
}

/** Starts readers that wait at the end of the events, each with its own request. */
function startTailers(client: SignedClient, count: number) {
  const postedAt = new Map<string, number>();
  const times: number[] = [];
  let isClosed = false;
  const tail = async (): Promise<void> => {
    let cursor = 'latest';
    while (!isClosed) {
      const path = `/v1/events?limit=50&wait=${WAIT_SECONDS}&cursor=${encodeURIComponent(cursor)}`;
      const { status, json } = await client.call('GET', path);
      if (status !== 200) throw new Error(`a tailer got ${status}`);
      const arrivedAt = performance.now();
      for (const event of Array.isArray(json.events) ? json.events : []) {
        const at = postedAt.get(readName(event));
        if (at !== undefined) times.push(arrivedAt - at);
      }
      cursor = String(json.nextCursor);
    }
  };
  const tails = Array.from({ length: count }, tail);
  const failed = Promise.all(tails).then(() => {});
  failed.catch(() => {});
  return {
    /** Posts events one after the other. Resolves to the milliseconds until each event was at each tailer. */
    follow: async (events: number) => {
      times.length = 0;
      for (let index = 0; index < events; index += 1) {
        const name = `tailed-${postedAt.size}`;
        postedAt.set(name, performance.now());
        const { status } = await client.post('/livekit/webhook', mediaWebhook(roomFinished(name)));
        if (status !== 200) throw new Error(`an event got ${status}`);
        await Promise.race([delay(PAUSE_MS), failed]);
      }
      while (times.length < events * count) await Promise.race([delay(PAUSE_MS), failed]);
      return [...times];
    },
    close: async () => {
      isClosed = true;
      // One last event ends the waiting requests.
      await client.post('/livekit/webhook', mediaWebhook(roomFinished('the-last')));
      await failed;
    },
  };
}

function readName(event: unknown): string {
  const { room }: { room?: unknown } = Object(event);
  const { name }: { name?: unknown } = Object(room);
  return String(name);
}

type Listing = {
  readonly name: string;
  /** The path with its query, without the cursor. */
  readonly path: string;
};

function listings(webhookId: string): readonly Listing[] {
  return [
    { name: 'rooms', path: '/v1/rooms' },
    { name: 'events', path: '/v1/events' },
    { name: 'events of a room', path: '/v1/events?roomId=room-7' },
    { name: 'events of two types', path: '/v1/events?types=track_published,participant_left' },
    { name: 'events since yesterday', path: `/v1/events?since=${yesterday()}` },
    { name: 'webhooks', path: '/v1/webhooks' },
    { name: 'deliveries of a webhook', path: `/v1/webhooks/${webhookId}/deliveries` },
    { name: 'failed deliveries', path: `/v1/webhooks/${webhookId}/deliveries?status=failed` },
    { name: 'sessions', path: '/v1/sessions' },
  ];
}

/** Resolves to the milliseconds of each page. Pages follow one another, and begin again after the last one. */
function timePages(client: SignedClient, { path }: Listing, count: number): Promise<readonly number[]> {
  const first = `${path}${path.includes('?') ? '&' : '?'}limit=${LIMIT}`;
  return timeCalls(client, count, (before) => {
    const isFull = before !== undefined && readLength(before.json) === LIMIT;
    const cursor = isFull ? before.json.nextCursor : undefined;
    return typeof cursor === 'string' ? `${first}&cursor=${encodeURIComponent(cursor)}` : first;
  });
}

function readLength(page: Readonly<Record<string, unknown>>): number {
  const list = Object.values(page).find(Array.isArray);
  return list?.length ?? 0;
}

function yesterday(): string {
  return new Date(Date.now() - 86_400_000).toISOString();
}
