import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore, type StoreOptions } from '../../src/server/app/create-store.ts';
import type { Store } from '../../src/server/app/store.ts';
import { systemClock } from '../../src/server/platform/clock.ts';
import { createLog } from '../../src/server/platform/pino-log.ts';
import type { StoredSegment } from '../../src/server/transcription/store.ts';
import { createFleet } from '../../test/server/webhooks/support/instance.ts';
import { mediaWebhook, roomFinished } from '../../test/server/webhooks/support/media-webhook.ts';
import type { ExperimentContext, Findings, RunSize } from '../experiment.ts';
import { atMost, exactly, type Figure, type Figures, observed } from '../figures.ts';
import { type EngineSettings, locateDatabase, onBothEngines } from '../support/both-engines.ts';
import { askUntil } from '../support/poll.ts';
import { createSignedClient, type SignedClient, timeCalls } from '../support/signed-client.ts';
import { percentile, round } from '../support/statistics.ts';

/** A run by hand may be smaller than the long one. */
const SEGMENTS: Readonly<Record<RunSize, number>> = {
  long: Number(process.env.STORED_SEGMENTS ?? 1_000_000),
  short: 2_000,
};
const SEGMENTS_OF_MEETING = 500;
const SEARCHES = { long: 100, short: 3 } as const;
const BUSY_SECONDS = { long: 15, short: 1 } as const;

const IN_FLIGHT = 60;
const SEARCH_BOUND_MS = 50;
const HEALTH_BOUND_MS = 50;
const EVENT_BOUND_MS = 100;
const PROBE_EVERY_MS = 50;
const DAY_MS = 86_400_000;

export const [storedSpeechSqlite, storedSpeechPostgres] = onBothEngines('stored-speech', measure);

async function measure(context: ExperimentContext, settings: EngineSettings): Promise<Findings> {
  const { runSize, report, cleanUp } = context;
  const fleet = cleanUp(await createFleet(settings));
  await mkdir(fleet.dataDir, { recursive: true });
  const stored = await fillSpeech(context, locateDatabase(fleet, settings), SEGMENTS[runSize]);
  const instance = await fleet.start();
  // Waits for the comparison that follows a start.
  await delay(runSize === 'long' ? 10_000 : 100);
  const client = cleanUp(createSignedClient(instance.url, fleet.keys, IN_FLIGHT + 2));
  const alone: Figure[] = [];
  for (const search of SEARCHES_BY_NAME) {
    await timeCalls(client, 3, () => toPath(search));
    const times = await timeCalls(client, SEARCHES[runSize], () => toPath(search));
    const p99 = { name: `search for ${search.name}, p99`, measured: round(percentile(times, 0.99)) };
    alone.push(atMost({ ...p99, bound: SEARCH_BOUND_MS, unit: ' ms' }));
    report(`${p99.name}: ${p99.measured} ms`);
  }
  const busy = await searchMuch(client, runSize);
  return { figures: [exactly('segments', stored, SEGMENTS[runSize]), ...alone, ...busy] };
}

/** Common words first; a word is said about in inverse proportion to its place. */
const WORDS = Array.from({ length: 4_000 }, (_, n) => `w${n.toString(36)}ord`);

/** Each is in one of four segments. */
const COMMON = 'the budget';
/** Is in one of 50,000 segments. */
const RARE = 'zirconium';

const SEARCHES_BY_NAME = [
  { name: 'common words', query: { q: COMMON } },
  { name: 'common words in a room without any', query: { q: COMMON, roomId: 'nowhere' } },
  { name: 'common words in a room', query: { q: COMMON, roomId: 'meeting-1' } },
  { name: 'common words in a language without any', query: { q: COMMON, language: 'it' } },
  { name: 'common words before all segments', query: { q: COMMON, until: '2020-01-01T00:00:00Z' } },
  { name: 'common words of a day', query: { q: COMMON, since: daysAgo(2), until: daysAgo(1) } },
  { name: 'a common and a rare word', query: { q: `budget ${RARE}` } },
  { name: 'two words that are never together', query: { q: `${WORDS[3]} ${WORDS[3_999]}` } },
  { name: 'a rare word', query: { q: RARE } },
  { name: 'an absent word', query: { q: 'quetzalcoatl' } },
] as const;

type Search = (typeof SEARCHES_BY_NAME)[number];

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString();
}

/** Stores meetings of the last 30 days as the workers do. Returns the number of segments. */
export async function fillSpeech(
  { report }: ExperimentContext,
  database: StoreOptions['database'],
  size: number,
): Promise<number> {
  const store = await openStore({ database, clock: systemClock, log: createLog('warn') });
  const meetings = size / SEGMENTS_OF_MEETING;
  try {
    for (let meeting = 0; meeting < meetings; meeting += 1) {
      const startedAt = Math.floor(Date.now() - 30 * DAY_MS * (1 - meeting / meetings));
      await storeMeeting(store, meeting, startedAt);
      if (meeting % 200 === 199) report(`${(meeting + 1) * SEGMENTS_OF_MEETING} segments are stored`);
    }
  } finally {
    await store.close();
  }
  return meetings * SEGMENTS_OF_MEETING;
}

async function storeMeeting({ transcriptions }: Store, meeting: number, createdAt: number): Promise<void> {
  const id = `tr_${meeting}`;
  const options = { partialResults: false, captions: false, punctuation: true, profanityFilter: false };
  const place = { room: `meeting-${meeting}`, roomSid: `RM_${meeting}` };
  await transcriptions.startLive({ id, ...place, language: 'en', speakers: {}, options, createdAt });
  const claim = { owner: 'filler', supports: () => true, limit: 1 };
  await transcriptions.claimLive({ ...claim, now: createdAt, leaseUntil: createdAt + DAY_MS });
  const segments = Array.from({ length: SEGMENTS_OF_MEETING }, (_, n) =>
    makeSegment(meeting * SEGMENTS_OF_MEETING + n, createdAt + n * 5_000),
  );
  if (!(await transcriptions.addSegments(id, 'filler', segments))) throw new Error(`${id} was not stored`);
  await transcriptions.stopLive(place.room, createdAt + SEGMENTS_OF_MEETING * 5_000);
}

function makeSegment(number: number, startedAt: number): StoredSegment {
  const words = Array.from({ length: 12 }, (_, n) => WORDS[pickWord(number * 12 + n)] ?? '');
  if (number % 4 === 0) words.push(COMMON);
  if (number % 50_000 === 7) words.push(RARE);
  const who = { trackId: `TR_${number % 5}`, identity: `person-${number % 5}`, name: null };
  const told = { text: words.join(' '), language: 'en', confidence: 0.9, overlapMs: null };
  return { id: `seg_${number}`, ...who, ...told, startedAt, endedAt: startedAt + 4_000 };
}

/** The same words in each run. */
function pickWord(seed: number): number {
  const share = ((Math.imul(seed + 1, 2_654_435_761) >>> 0) % 1_000_003) / 1_000_003;
  return Math.floor(WORDS.length ** share) - 1;
}

function toPath({ query }: Search): string {
  return `/v1/transcriptions/search?${new URLSearchParams(query)}`;
}

/** Keeps 60 searches in flight, and measures what others get in the meantime. */
async function searchMuch(client: SignedClient, runSize: RunSize): Promise<Figures> {
  const over = AbortSignal.timeout(BUSY_SECONDS[runSize] * 1_000);
  const answers = new Map<number, number>();
  const search = async (_: unknown, number: number): Promise<void> => {
    for (let index = number; !over.aborted; index += 1) {
      const chosen = SEARCHES_BY_NAME[index % SEARCHES_BY_NAME.length] ?? SEARCHES_BY_NAME[0];
      const { status } = await client.call('GET', toPath(chosen));
      answers.set(status, (answers.get(status) ?? 0) + 1);
      // Retry-After is a second.
      if (status === 503) await delay(1_000);
    }
  };
  const searching = Array.from({ length: IN_FLIGHT }, search);
  const [health, events] = await Promise.all([
    askUntil(over, PROBE_EVERY_MS, () => client.call('GET', '/v1/health')),
    askUntil(over, PROBE_EVERY_MS, (number) =>
      client.post('/livekit/webhook', mediaWebhook(roomFinished(`busy-${number}`))),
    ),
    ...searching,
  ]);
  const [failure] = [...health.failures, ...events.failures];
  if (failure !== undefined) throw new Error(`a request beside searches answered ${failure}`);
  const claimed = (name: string, times: readonly number[], bound: number): Figure =>
    atMost({ name: `${name}, p99`, measured: round(percentile(times, 0.99)), bound, unit: ' ms' });
  const others = [...answers].filter(([status]) => status !== 200 && status !== 503);
  return [
    observed('searches answered with 60 in flight', answers.get(200) ?? 0),
    observed('searches answered with 503', answers.get(503) ?? 0),
    exactly('searches answered with another status', others.length, 0),
    claimed('GET /v1/health with 60 searches in flight', health.timesMs, HEALTH_BOUND_MS),
    claimed('event of LiveKit with 60 searches in flight', events.timesMs, EVENT_BOUND_MS),
  ];
}
