import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RoomServiceClient } from 'livekit-server-sdk';
import { Client } from 'pg';
import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import type { JoinedParticipant } from '../../../test/support/parts/participant.ts';
import { startPostgresServer } from '../../../test/support/parts/postgres-server.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import { speakToFile } from '../../../test/support/parts/speech.ts';
import {
  type Cleaning,
  type Experiment,
  type ExperimentContext,
  type Findings,
  makeFolder,
} from '../../experiment.ts';
import { atLeast, atMost, exactly, type Figures, observed } from '../../figures.ts';
import { type KillState, killInEveryState } from '../../support/faults.ts';
import { pollEvery } from '../../support/poll.ts';
import { mediaServerSettings, startService } from '../../support/signed-client.ts';
import {
  countTranscriptionEvents,
  type Statement,
  startVictim,
  startWorkerProcess,
  type Victim,
} from '../../support/worker-process.ts';
import { enter } from '../nodes/people.ts';

/** The lease expires after two seconds, and another worker claims it at once. A busy machine takes longer. */
const BOUND_SECONDS = 15;
/** Segments may overlap by this much: times are rounded, and a segment includes the pause that ends it. */
const TOUCHING_SECONDS = 0.3;
const STATES_OF_SHORT = ['sentence', 'storing'];
const CLAIM = 'update transcriptions set "leaseOwner"';
const STORE = 'insert into "segments"';

const LIVE_STATES: readonly LiveState[] = [
  {
    name: 'while it claims the transcription',
    slug: 'claiming',
    at: { text: CLAIM, passage: 'passes' },
    isFirst: true,
  },
  { name: 'while it listens and nobody speaks', slug: 'listening', at: 'silence' },
  { name: 'in the middle of a sentence', slug: 'sentence', at: 'speech' },
  { name: 'before a sentence is stored', slug: 'unstored', at: { text: STORE, passage: 'held' } },
  { name: 'while a sentence is being stored', slug: 'storing', at: { text: STORE, passage: 'passes' } },
  { name: 'in the middle of a sentence, as the transcription is stopped', slug: 'ending', at: 'stop' },
];

const SENTENCES = [
  'The children are playing in the garden behind the old house.',
  'We are going to visit my grandmother in the hospital this afternoon.',
  'The train to the mountains leaves early in the morning from the station.',
] as const;

/** A second of silence comes before the sentence, so the worker is in the middle of it after this time. */
const INTO_SENTENCE_MS = 2_500;
/** A worker that has joined subscribes to all tracks of the room within this time. */
const SUBSCRIBED_MS = 3_000;
const DEADLINE_MS = 60_000;
const poll = pollEvery({ everyMs: 50, withinMs: DEADLINE_MS });
const CONNECTIONS = 16;
export const liveSpeechKills: Experiment = { name: 'live-speech-kills', run: killLiveWorkers };

async function killLiveWorkers(context: ExperimentContext): Promise<Findings> {
  const stage = await startLiveStage(context);
  const folder = await makeFolder(context);
  const sentences = await makeSentences(folder);
  const figures = await killInEveryState(context, {
    states: LIVE_STATES,
    ofShort: STATES_OF_SHORT,
    kill: async (state) => {
      const outcome = await killLiveWorker(stage, state, sentences);
      const texts = outcome.after.map(({ text }) => text).join(' | ');
      const line = `taken over after ${outcome.takenOverMs} ms; ${texts}`;
      return { figures: toFigures(state, outcome), lines: [line] };
    },
  });
  return { figures, versions: { LiveKit: livekitServerVersion, PostgreSQL: stage.databaseVersion } };
}

function toFigures({ at }: LiveState, outcome: LiveOutcome): Figures {
  const { isPlaced, takenOverMs, before, after, heardAgain, counted, events } = outcome;
  const kept = before.filter((one) => after.some((other) => isSame(one, other)));
  const measured = Math.round((takenOverMs ?? 0) / 100) / 10;
  const words = { name: 'words of the sentence after the takeover', measured: wordsIn(heardAgain), bound: 1 };
  const takenOver = [
    atMost({ name: 'held by another worker after', measured, bound: BOUND_SECONDS, unit: ' s' }),
  ];
  const unread = 'segments that the stop counted and nobody can read, or the other way round';
  return [
    exactly('kills at that place', Number(isPlaced), 1),
    ...(at === 'stop' ? [] : takenOver),
    observed('segments before the kill', before.length),
    exactly('of these, lost or changed', before.length - kept.length, 0),
    ...(at === 'stop' ? [] : [atLeast(words)]),
    exactly('segments that overlap another one', overlapping(after), 0),
    exactly(unread, Math.abs(counted - after.length), 0),
    exactly('events of the end', events, 1),
  ];
}

function isSame(one: LiveSegment, other: LiveSegment): boolean {
  return one.start === other.start && one.end === other.end && one.text === other.text;
}

function wordsIn(segments: readonly LiveSegment[]): number {
  return segments.flatMap(({ text }) => text.split(/\s+/)).filter((word) => word !== '').length;
}

function overlapping(segments: readonly LiveSegment[]): number {
  const ordered = segments.toSorted((one, other) => one.start - other.start);
  return ordered.filter((one, index) => {
    const next = ordered[index + 1];
    return next !== undefined && one.end - next.start > TOUCHING_SECONDS;
  }).length;
}

type LiveState = KillState & {
  /** The statement at which it dies, or the situation in the room. */
  readonly at: Statement | 'silence' | 'speech' | 'stop';
  /** Whether it dies before anybody speaks. */
  readonly isFirst?: true;
};

type LiveSegment = { readonly start: number; readonly end: number; readonly text: string };

type LiveOutcome = {
  readonly isPlaced: boolean;
  /** Milliseconds from the kill until another worker held the transcription; undefined where it was stopped. */
  readonly takenOverMs: number | undefined;
  /** Segments that were listed before the kill. */
  readonly before: readonly LiveSegment[];
  readonly after: readonly LiveSegment[];
  /** Segments of the sentence that was spoken after the takeover. */
  readonly heardAgain: readonly LiveSegment[];
  /** The number of segments that the response to the stop named. */
  readonly counted: number;
  readonly events: number;
};

/** Makes files of the sentences that are spoken. */
async function makeSentences(folder: string): Promise<readonly string[]> {
  const paths = SENTENCES.map((_, index) => join(folder, `sentence-${index}.wav`));
  for (const [index, text] of SENTENCES.entries()) await speakToFile({ text, path: paths[index] ?? '' });
  return paths;
}

/** Transcribes a room with a worker that dies in the state while another one is ready to take over. */
async function killLiveWorker(
  stage: LiveStage,
  state: LiveState,
  [first = '', second = '', third = '']: readonly string[],
): Promise<LiveOutcome> {
  const { client } = stage;
  const room = `live-${state.slug}`;
  await client.call('POST', '/v1/rooms', { name: room });
  const { joined: ada } = await enter(client, room, 'ada');
  const victim = await startVictim('stt-live', stage);
  if (state.isFirst && typeof state.at !== 'string') victim.killAt(state.at);
  const started = await client.call('POST', `/v1/rooms/${room}/transcription/start`, {});
  const id = String(started.json.transcriptionId);
  if (!state.isFirst) await poll(() => stage.findAgent(room));
  const owner = state.isFirst ? null : await stage.findOwner(id);
  const standby = await startWorkerProcess('stt-live', stage);
  if (!state.isFirst) {
    await speak(ada, first);
    await poll(async () => (await segmentsIn(stage, room)).length > 0);
  }
  const before = await segmentsIn(stage, room);
  const counted = state.isFirst ? undefined : await die({ stage, state, room, victim }, ada, second);
  const diedAt = await victim.findDeath(DEADLINE_MS);
  const takenOverMs = counted === undefined ? await untilTakenOver(stage, id, { owner, diedAt }) : undefined;
  const known = await segmentsIn(stage, room);
  const heardAgain = counted === undefined ? await hearAgain(stage, { room, known }, ada, third) : [];
  const last = counted ?? (await stop(stage, room));
  const after = await segmentsIn(stage, room);
  await Promise.all([ada.leave(), victim.close(), standby.close()]);
  const events = await countTranscriptionEvents(client, id);
  return { isPlaced: diedAt !== undefined, takenOverMs, before, after, heardAgain, counted: last, events };
}

type Dying = {
  readonly stage: LiveStage;
  readonly state: LiveState;
  readonly room: string;
  readonly victim: Victim;
};

/** Resolves when the worker is dead. The value is the number of segments if the transcription was stopped at the same time. */
async function die(
  { stage, state, room, victim }: Dying,
  ada: JoinedParticipant,
  sentence: string,
): Promise<number | undefined> {
  if (state.at === 'silence') {
    await victim.kill();
    return undefined;
  }
  if (typeof state.at !== 'string') victim.killAt(state.at);
  const { played } = await ada.publishWav(sentence);
  if (typeof state.at === 'string') {
    await delay(INTO_SENTENCE_MS);
    const [counted] = await Promise.all([
      state.at === 'stop' ? stop(stage, room) : undefined,
      victim.kill(),
      played,
    ]);
    return counted;
  }
  await Promise.all([played, victim.findDeath(DEADLINE_MS)]);
  return undefined;
}

async function untilTakenOver(
  stage: LiveStage,
  id: string,
  { owner, diedAt }: { readonly owner: string | null; readonly diedAt: number | undefined },
): Promise<number> {
  // A worker that died during its claim may or may not be the owner of the row. Only the other one can join the room.
  const victim = owner ?? (await stage.findOwner(id));
  await poll(async () => {
    const now = await stage.findOwner(id);
    return now !== null && now !== victim;
  });
  return Math.round(performance.now() - (diedAt ?? 0));
}

type Known = { readonly room: string; readonly known: readonly LiveSegment[] };

async function hearAgain(
  stage: LiveStage,
  { room, known }: Known,
  ada: JoinedParticipant,
  sentence: string,
): Promise<readonly LiveSegment[]> {
  await poll(() => stage.findAgent(room));
  await delay(SUBSCRIBED_MS);
  await speak(ada, sentence);
  const starts = new Set(known.map(({ start }) => start));
  return await poll(async () => {
    const found = (await segmentsIn(stage, room)).filter(({ start }) => !starts.has(start));
    return found.length > 0 && found;
  });
}

async function speak(ada: JoinedParticipant, sentence: string): Promise<void> {
  await (await ada.publishWav(sentence)).played;
}

async function segmentsIn({ client }: LiveStage, room: string): Promise<readonly LiveSegment[]> {
  const { json } = await client.call('GET', `/v1/rooms/${room}/transcription`);
  const segments: readonly (LiveSegment & { readonly final: boolean })[] = Array.isArray(json.segments)
    ? json.segments
    : [];
  return segments.filter(({ final }) => final);
}

async function stop({ client }: LiveStage, room: string): Promise<number> {
  const { json } = await client.call('POST', `/v1/rooms/${room}/transcription/stop`);
  return Number(json.segmentCount);
}

/** A real LiveKit, one instance of the service on PostgreSQL that receives its webhooks, and settings for live workers. */
type LiveStage = Awaited<ReturnType<typeof startLiveStage>>;

async function startLiveStage({ cleanUp }: Cleaning) {
  const database = cleanUp(await startPostgresServer());
  const port = await freePort();
  const livekit = cleanUp(await startLivekit({ webhookUrl: `http://127.0.0.1:${port}/livekit/webhook` }));
  const settings = {
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ...mediaServerSettings(livekit),
  };
  const service = { environment: settings, port, connections: CONNECTIONS };
  const { client } = await startService({ cleanUp }, service);
  const rooms = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
  const rows = new Client({ connectionString: database.url });
  await rows.connect();
  cleanUp(() => rows.end());
  return {
    ...{ client, settings, databaseUrl: database.url, databaseVersion: database.version },
    /** The session id of the worker's participant in the room; undefined if none is there. */
    findAgent: async (room: string) => {
      const people = await rooms.listParticipants(room);
      return people.find(({ identity }) => identity.startsWith('stt-live-'))?.sid;
    },
    /** The worker that holds the transcription; null if none does. */
    findOwner: async (id: string): Promise<string | null> => {
      const found = await rows.query('select "leaseOwner" from transcriptions where id = $1', [id]);
      return found.rows[0]?.leaseOwner ?? null;
    },
  };
}
