import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { JoinedParticipant } from '../../../test/support/parts/participant.ts';
import { speakToFile } from '../../../test/support/parts/speech.ts';
import { pollEvery } from '../../support/poll.ts';
import { type DatabaseProxy, type Passage, startDatabaseProxy } from '../../support/database-proxy.ts';
import { enter } from '../nodes/people.ts';
import type { LiveStage } from './live-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

/** The activity of a live worker at the time of its death. */
export type LiveState = {
  readonly name: string;
  readonly slug: string;
  /** The statement at which it dies, or the situation in the room. */
  readonly at: { readonly text: string; readonly passage: Passage } | 'silence' | 'speech' | 'stop';
  /** Whether it dies before anybody speaks. */
  readonly isFirst?: true;
};

const CLAIM = 'update transcriptions set "leaseOwner"';
const STORE = 'insert into "segments"';

export const LIVE_STATES: readonly LiveState[] = [
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

export type LiveSegment = { readonly start: number; readonly end: number; readonly text: string };

export type LiveOutcome = {
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
const LOOK_MS = 50;
const poll = pollEvery({ everyMs: LOOK_MS, withinMs: DEADLINE_MS });

/** Makes files of the sentences that are spoken. */
export async function makeSentences(folder: string): Promise<readonly string[]> {
  const paths = SENTENCES.map((_, index) => join(folder, `sentence-${index}.wav`));
  for (const [index, text] of SENTENCES.entries()) await speakToFile({ text, path: paths[index] ?? '' });
  return paths;
}

/** Transcribes a room with a worker that dies in the state while another one is ready to take over. */
export async function killLiveWorker(
  stage: LiveStage,
  state: LiveState,
  [first = '', second = '', third = '']: readonly string[],
): Promise<LiveOutcome> {
  const { client } = stage;
  const room = `live-${state.slug}`;
  await client.call('POST', '/v1/rooms', { name: room });
  const { joined: ada } = await enter(client, room, 'ada');
  const proxy = await startDatabaseProxy(() => Number(new URL(stage.databaseUrl).port));
  const through = { ...stage, databaseUrl: proxy.through(stage.databaseUrl) };
  const victim = await startWorkerProcess('stt-live', through);
  const death = awaitDeath(state, proxy, victim.kill);
  if (state.isFirst) death.arm();
  const started = await client.call('POST', `/v1/rooms/${room}/transcription/start`, {});
  const id = String(started.json.transcriptionId);
  if (!state.isFirst) await poll(() => stage.agentOf(room));
  const owner = state.isFirst ? null : await stage.ownerOf(id);
  const standby = await startWorkerProcess('stt-live', stage);
  if (!state.isFirst) {
    await speak(ada, first);
    await poll(async () => (await segmentsIn(stage, room)).length > 0 || undefined);
  }
  const before = await segmentsIn(stage, room);
  const counted = state.isFirst ? undefined : await die({ stage, state, room, death }, ada, second);
  const diedAt = await Promise.race([death.at, delay(DEADLINE_MS, undefined, { ref: false })]);
  const takenOverMs = counted === undefined ? await untilTakenOver(stage, id, { owner, diedAt }) : undefined;
  const known = await segmentsIn(stage, room);
  const heardAgain = counted === undefined ? await hearAgain(stage, { room, known }, ada, third) : [];
  const last = counted ?? (await stop(stage, room));
  const after = await segmentsIn(stage, room);
  await Promise.all([ada.leave(), victim.kill(), standby.close()]);
  await proxy.close();
  const events = await countEvents(stage, id);
  return { isPlaced: diedAt !== undefined, takenOverMs, before, after, heardAgain, counted: last, events };
}

type Death = {
  /** Waits for the statement from now on; does nothing for a state without one. */
  readonly arm: () => void;
  readonly kill: () => Promise<void>;
  /** When it died, by performance.now(). */
  readonly at: Promise<number>;
};

function awaitDeath({ at }: LiveState, proxy: DatabaseProxy, killProcess: () => Promise<unknown>): Death {
  const died = Promise.withResolvers<number>();
  const kill = async (): Promise<void> => {
    const now = performance.now();
    await killProcess();
    died.resolve(now);
  };
  const arm = (): void => {
    if (typeof at === 'string') return;
    proxy.onNext(at.text, () => {
      void kill();
      return at.passage;
    });
  };
  return { arm, kill, at: died.promise };
}

type Dying = {
  readonly stage: LiveStage;
  readonly state: LiveState;
  readonly room: string;
  readonly death: Death;
};

/** Resolves when the worker is dead. The value is the number of segments if the transcription was stopped at the same time. */
async function die(
  { stage, state, room, death }: Dying,
  ada: JoinedParticipant,
  sentence: string,
): Promise<number | undefined> {
  if (state.at === 'silence') {
    await death.kill();
    return undefined;
  }
  death.arm();
  const { played } = await ada.publishWav(sentence);
  if (typeof state.at === 'string') {
    await delay(INTO_SENTENCE_MS);
    const [counted] = await Promise.all([
      state.at === 'stop' ? stop(stage, room) : undefined,
      death.kill(),
      played,
    ]);
    return counted;
  }
  await Promise.all([played, Promise.race([death.at, delay(DEADLINE_MS, undefined, { ref: false })])]);
  return undefined;
}

async function untilTakenOver(
  stage: LiveStage,
  id: string,
  { owner, diedAt }: { readonly owner: string | null; readonly diedAt: number | undefined },
): Promise<number> {
  // A worker that died during its claim may or may not be the owner of the row. Only the other one can join the room.
  const victim = owner ?? (await stage.ownerOf(id));
  await poll(async () => {
    const now = await stage.ownerOf(id);
    return now !== null && now !== victim ? true : undefined;
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
  await poll(() => stage.agentOf(room));
  await delay(SUBSCRIBED_MS);
  await speak(ada, sentence);
  const starts = new Set(known.map(({ start }) => start));
  return await poll(async () => {
    const found = (await segmentsIn(stage, room)).filter(({ start }) => !starts.has(start));
    return found.length > 0 ? found : undefined;
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

async function countEvents({ client }: LiveStage, id: string): Promise<number> {
  const { json } = await client.call('GET', '/v1/events?limit=500');
  const events: readonly { readonly transcription?: { readonly transcriptionId?: string } }[] = Array.isArray(
    json.events,
  )
    ? json.events
    : [];
  return events.filter(({ transcription }) => transcription?.transcriptionId === id).length;
}
