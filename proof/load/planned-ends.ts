import { setTimeout as delay } from 'node:timers/promises';
import { forEachConcurrently } from '../../src/server/platform/jobs/concurrently.ts';
import { createFleet } from '../../test/server/webhooks/support/instance.ts';
import { startHaproxy } from '../../test/support/parts/haproxy.ts';
import type { ExperimentContext, Findings } from '../experiment.ts';
import { atMost, exactly, none, observed } from '../figures.ts';
import { type EngineSettings, onBothEngines } from '../support/both-engines.ts';
import { startEmbeddedMedia } from '../support/embedded-media.ts';
import { passTo, startPassingServer } from '../support/passing-server.ts';
import { untilEnoughOrSilence } from '../support/poll.ts';
import {
  createSignedClient,
  listAll,
  mediaServerSettings,
  type SignedClient,
} from '../support/signed-client.ts';
import { percentile } from '../support/statistics.ts';

/** Rooms that end evenly over a time. Instances that have never closed one are slower: some end before, at the same pace. */
const SIZES = {
  long: { rooms: 10_000, overMs: 60_000, earlier: 500, earlierMs: 15_000 },
  short: { rooms: 60, overMs: 3_000, earlier: 0, earlierMs: 0 },
} as const;

/** Time for what comes between the plan of the last room and the first end. */
const SPARE_MS = 5_000;

const AT_ONCE = 24;

/** Closings of this time are reported together. */
const REPORTED_MS = 2_000;

/** The experiment gives up when no room has been closed for so long. */
const SILENCE_MS = 30_000;

export const [plannedEndsSqlite, plannedEndsPostgres] = onBothEngines('planned-ends', endRooms);

async function endRooms(context: ExperimentContext, settings: EngineSettings): Promise<Findings> {
  const { runSize, report, cleanUp } = context;
  const size = SIZES[runSize];
  const stage = await startStage(cleanUp, settings);
  const { instances, client, closedAt } = stage;
  const listNames = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${kind}-${index}`);
  const names = { earlier: listNames('earlier', size.earlier), planned: listNames('planned', size.rooms) };
  const startedAt = Date.now();
  await openRooms(stage, [...names.earlier, ...names.planned]);
  // A plan takes no longer than opening a room and joining it.
  const firstEnd = Date.now() + (Date.now() - startedAt) + size.earlierMs + SPARE_MS;
  const spread = (rooms: readonly string[], from: number) =>
    new Map(
      rooms.map((room, index) => [room, Math.round(from + (index * size.overMs) / size.rooms)] as const),
    );
  const earlier = spread(names.earlier, firstEnd - size.earlierMs);
  const ends = spread(names.planned, firstEnd);
  await planEnds(client, new Map([...earlier, ...ends]));
  const spareMs = firstEnd - size.earlierMs - Date.now();
  report(`${ends.size} rooms are planned, ${Math.round(spareMs / 1000)} s before the first end`);
  if (spareMs < 0) throw new Error('planning the ends took longer than opening the rooms');
  await delay(firstEnd + size.overMs / 3 - Date.now());
  // One instance has SQLite's file, and nobody could continue.
  if (instances.length > 1) await instances.pop()?.kill();
  report(`${closedAt.size} rooms are closed; ${instances.length} instances go on`);
  await untilEnoughOrSilence({
    ...{ count: () => closedAt.size, isEnough: () => closedAt.size >= earlier.size + ends.size },
    ...{ everyMs: 100, silenceMs: SILENCE_MS },
  });
  await stage.media.control.webhooksSettled();
  const lateMs = [...ends].flatMap(([room, end]) => {
    const closed = closedAt.get(room);
    return closed === undefined ? [] : [closed - end];
  });
  for (const [at, rooms] of Map.groupBy(ends, ([, end]) => Math.floor((end - firstEnd) / REPORTED_MS))) {
    const ms = rooms.map(([room, end]) => (closedAt.get(room) ?? end) - end);
    report(
      `${(at * REPORTED_MS) / 1000} s: median ${percentile(ms, 0.5)} ms, p90 ${percentile(ms, 0.9)} ms, maximum ${percentile(ms, 1)} ms`,
    );
  }
  const [closing, finished] = [
    await countEvents(client, 'room_closing'),
    await countEvents(client, 'room_finished'),
  ];
  const countOdd = (events: ReadonlyMap<string, number>) =>
    [...ends.keys()].filter((room) => events.get(room) !== 1).length;
  return {
    figures: [
      observed('planned rooms', ends.size),
      exactly('rooms that were not closed', ends.size - lateMs.length, 0),
      none('rooms that were closed before their end', lateMs, (ms) => ms < 0),
      exactly('rooms without exactly one event that they close now', countOdd(closing), 0),
      exactly('rooms without exactly one room_finished that tells why', countOdd(finished), 0),
      observed('from the end to the closing, median', percentile(lateMs, 0.5), ' ms'),
      atMost({
        ...{ name: 'from the end to the closing, p99', measured: percentile(lateMs, 0.99) },
        ...{ bound: 1_000, unit: ' ms' },
      }),
      observed('from the end to the closing, maximum', percentile(lateMs, 1), ' ms'),
    ],
  };
}

type Stage = Awaited<ReturnType<typeof startStage>>;

/** A media server that notes when it is told to close a room, and the instances that plan its rooms. */
async function startStage(cleanUp: ExperimentContext['cleanUp'], settings: EngineSettings) {
  const webhookUrls: string[] = [];
  const { media, at } = await startEmbeddedMedia({ cleanUp }, { webhookUrls });
  const closedAt = new Map<string, number>();
  const gate = await startPassingServer({ cleanUp }, async (request) => {
    const answer = await passTo(media.url, request);
    if (request.path.endsWith('/DeleteRoom') && answer.status === 200) {
      const { room } = JSON.parse(request.body.toString());
      closedAt.set(room, closedAt.get(room) ?? Date.now());
    }
    return answer;
  });
  const fleet = cleanUp(await createFleet({ ...settings, ...mediaServerSettings(at(gate)) }));
  const first = await fleet.start();
  const instances = [first];
  let insideUrl = first.url;
  if (settings.DATABASE_URL !== undefined) {
    instances.push(await fleet.start(), await fleet.start());
    const hosts = instances.map(({ url }) => new URL(url).host);
    insideUrl = cleanUp(await startHaproxy(hosts)).insideUrl;
  }
  webhookUrls.push(`${insideUrl}/livekit/webhook`);
  const client = cleanUp(createSignedClient(first.url, fleet.keys, AT_ONCE));
  return { instances, media, client, closedAt };
}

/** Opens rooms with a person in each. */
async function openRooms({ client, media }: Stage, names: readonly string[]): Promise<void> {
  await forEachConcurrently(names, AT_ONCE, async (name) => {
    await requestRoom(client, { name });
    media.control.join(name, { identity: 'ada' });
  });
  await media.control.webhooksSettled();
}

async function planEnds(client: SignedClient, ends: ReadonlyMap<string, number>): Promise<void> {
  await forEachConcurrently([...ends], AT_ONCE, async ([name, end]) => {
    await requestRoom(client, { name, closesAt: new Date(end).toISOString(), closingWarnings: [] });
  });
}

async function requestRoom(client: SignedClient, room: object): Promise<void> {
  const { status, text } = await client.call('POST', '/v1/rooms', room);
  if (status !== 201 && status !== 200) throw new Error(`opening a room: ${status} ${text}`);
}

type Told = {
  readonly room: { readonly name: string };
  readonly closing?: { readonly secondsLeft: number };
  readonly closeReason?: string;
};

/** Returns how many times the end of each room was told by this event. */
async function countEvents(
  client: Stage['client'],
  type: 'room_closing' | 'room_finished',
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const events = listAll<Told>(client, `/v1/events?types=${type}&limit=500`, 'events');
  for await (const { room, closing, closeReason } of events)
    if (closing?.secondsLeft === 0 || closeReason === 'closes_at')
      counts.set(room.name, (counts.get(room.name) ?? 0) + 1);
  return counts;
}
