import { setImmediate } from 'node:timers/promises';
import type { PostStatus } from '../../contract/choices.ts';
import { ServiceError } from '../../contract/errors.ts';
import {
  type LiveSummary,
  type LiveTranscription,
  MAX_SPEAKERS,
  MOST_SEGMENTS,
  type PostTranscription,
  type PostTranscriptionDetail,
  type PostTranscriptionList,
  type Segment,
  type SpeakerUpdate,
  type TranscriptionListQuery,
  type TranscriptionWarning,
} from '../../contract/transcription.ts';
import { type Clock, toInstant } from '../platform/clock.ts';
import {
  cursorCodec,
  type OfRooms,
  pageReader,
  readPage as readListPage,
} from '../platform/http/read-page.ts';
import { refusedField, refusedParameter } from '../platform/http/refusals.ts';
import { type WaitForChangeDeps, waitForChange } from '../platform/storage/changes.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { AUTO } from './engines/speech.ts';
import { toSegments } from './resolve-speakers.ts';
import type { SpeechQuality, Transcription, TranscriptionStores } from './store.ts';

const readPage = pageReader('transcriptions');

/** A live transcription is read in the order in which its segments are stored: its id, and a position in that order. */
const CURSOR = cursorCodec('segments', 'string', 'number');

/** The transcription of a recording is read by the start of its segments: its id, and the start and id of a segment. */
const START_CURSOR = cursorCodec('segments-by-start', 'string', 'number', 'string');

/** Segments that are read in one step: on SQLite nothing else runs during a step. */
const READ_AT_ONCE = 500;

type ReadTranscriptionsDeps = {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
};

type LiveReading = {
  /** Unix milliseconds: only segments that end after it. */
  readonly since?: number | undefined;
  /** nextCursor of an earlier response: only segments that were stored since then. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  /** Maximum seconds to wait for the first segment or for the end of the transcription. */
  readonly waitSeconds: number;
};

/** Returns the active transcription of a room, else its newest. */
export async function getRoomTranscription(
  deps: ReadTranscriptionsDeps & WaitForChangeDeps,
  room: string,
  { since, cursor, limit, waitSeconds }: LiveReading,
): Promise<LiveTranscription> {
  const [id, position] = cursor === undefined ? ['', 0] : CURSOR.decode(cursor);
  if (waitSeconds > 0) await waitForSegments(deps, { room, id, position, waitSeconds });
  const transcription = await findOfRoom(deps.store, room);
  // When another transcription has been started since, it is read from its beginning.
  const after = transcription.id === id ? position : 0;
  return await toLive(deps, transcription, { since, after, limit });
}

type AwaitedSegments = {
  readonly room: string;
  readonly id: string;
  readonly position: number;
  readonly waitSeconds: number;
};

/**
 * Waits until a segment is stored after the position, or until the transcription is no longer the running one of its room.
 */
async function waitForSegments(
  deps: ReadTranscriptionsDeps & WaitForChangeDeps,
  { room, id, position, waitSeconds }: AwaitedSegments,
): Promise<void> {
  const { transcriptions } = deps.store;
  const hasChanged = async (): Promise<boolean> =>
    (await transcriptions.hasStoredAfter(id, position)) ||
    (await transcriptions.findActiveLive(room))?.id !== id;
  const deadline = deps.clock.monotonic() + waitSeconds * 1000;
  await waitForChange(deps, { topic: 'segments', deadline, hasChanged });
}

type SegmentPage = { readonly limit?: number | undefined; readonly cursor?: string | undefined };

/** Returns a live or post-call transcription with a page of its segments. Throws transcription-not-found. */
export async function getTranscription(
  deps: ReadTranscriptionsDeps,
  id: string,
  { limit, cursor }: SegmentPage,
): Promise<PostTranscriptionDetail | LiveTranscription> {
  const { store } = deps;
  const transcription = await store.transcriptions.find(id);
  if (transcription === undefined) throw transcriptionNotFound(id);
  if (transcription.kind === 'live') {
    const [of, after] = cursor === undefined ? [id, 0] : CURSOR.decode(cursor);
    requireSame(of, id);
    return await toLive(deps, transcription, { after, limit });
  }
  const hasTracks = await store.transcriptions.hasTracks(id);
  const page = await readListPage(
    START_CURSOR,
    { cursor, limit: limit ?? MOST_SEGMENTS },
    {
      read: async ({ after: start, limit: most }) => {
        if (start !== undefined) requireSame(start[0], id);
        let after = start && { startedAt: start[1], id: start[2] };
        return await readInSteps(most, async (step) => {
          const found = await store.transcriptions.listSegments(id, { after, limit: step });
          after = found.at(-1) ?? after;
          return toSegments({ transcription, hasTracks }, found);
        });
      },
      locate: (segment) => [id, Date.parse(segment.startedAt), segment.id] as const,
    },
  );
  const warnings = await listWarnings(store, transcription);
  return { ...toPost(transcription), segments: [...page.rows], nextCursor: page.nextCursor, ...warnings };
}

function requireSame(ofCursor: string, id: string): void {
  if (ofCursor !== id) throw refusedParameter('cursor', 'must be a nextCursor of this transcription');
}

/** Reads segments step by step until there are enough or no more. Between the steps other requests have their turn. */
async function readInSteps(
  most: number,
  read: (step: number) => Promise<readonly Segment[]>,
): Promise<Segment[]> {
  const all: Segment[] = [];
  for (;;) {
    const step = Math.min(READ_AT_ONCE, most - all.length);
    const found = await read(step);
    all.push(...found);
    if (found.length < step || all.length === most) return all;
    await setImmediate();
  }
}

/** Lists post-call transcriptions, newest first, without their segments. */
export async function listTranscriptions(
  { store }: Pick<ReadTranscriptionsDeps, 'store'>,
  { roomId: room, rooms, recordingId: egressId, status, ...asked }: OfRooms<TranscriptionListQuery>,
): Promise<PostTranscriptionList> {
  const { rows, nextCursor } = await readPage(asked, (wanted) =>
    store.transcriptions.listNewest({ kind: 'post', room, rooms, egressId, status, ...wanted }),
  );
  return { transcriptions: rows.map(toPost), nextCursor };
}

export function toLiveSummary(transcription: Transcription): LiveSummary {
  const { id, room, status, language, createdAt, endedAt } = transcription;
  return {
    transcriptionId: id,
    roomId: room,
    status: LIVE_STATUSES[status] ?? 'stopped',
    language,
    startedAt: new Date(createdAt).toISOString(),
    stoppedAt: toInstant(endedAt),
    error: readError(transcription),
  };
}

/**
 * Deletes a transcription with all its segments, in any state but `active`. The transcription is deleted last, so that after
 * an interruption the same request deletes the rest. A worker that is transcribing it stops. Throws conflict for an active
 * one.
 */
export async function deleteTranscription(
  {
    store,
  }: { readonly store: UnitOfWork<TranscriptionStores> & Pick<TranscriptionStores, 'transcriptions'> },
  id: string,
): Promise<void> {
  await deleteSegments(store.transcriptions, id);
  await store.transaction(async (within) => {
    const transcription = await within.transcriptions.find(id);
    if (transcription?.status === 'active') {
      throw new ServiceError('conflict', 'The transcription is still running; stop it first.');
    }
    if (!(await within.transcriptions.delete(id))) throw transcriptionNotFound(id);
  });
}

/** Returns the active or newest transcription of the room. Throws transcription-not-found. */
async function findOfRoom(store: ReadTranscriptionsDeps['store'], room: string): Promise<Transcription> {
  const transcription = await store.transcriptions.findLatestLive(room);
  if (transcription !== undefined) return transcription;
  throw new ServiceError(
    'transcription-not-found',
    `The room ${JSON.stringify(room)} was never transcribed.`,
  );
}

export function transcriptionNotFound(id: string): ServiceError {
  return new ServiceError('transcription-not-found', `There is no transcription ${JSON.stringify(id)}.`);
}

/** An interim result that was not updated for this time comes from a dead worker, and is ignored. */
const INTERIM_LIFETIME_MS = 5_000;

type LivePage = {
  readonly since?: number | undefined;
  readonly after: number;
  readonly limit?: number | undefined;
};

async function toLive(
  { store, clock }: ReadTranscriptionsDeps,
  transcription: Transcription,
  { since, after, limit }: LivePage,
): Promise<LiveTranscription> {
  const { id, status, options } = transcription;
  // Reads the interim results first: a segment that becomes final in the meantime is among the finals.
  const current =
    status === 'active' && options.partialResults
      ? await store.transcriptions.listInterims(id, clock.now() - INTERIM_LIFETIME_MS)
      : [];
  const interims = current.filter((segment) => since === undefined || segment.endedAt > since);
  const transcribed = { transcription, hasTracks: true };
  let position = after;
  const finals = await readInSteps(limit ?? MOST_SEGMENTS, async (step) => {
    const query = { after: position, endsAfter: since, limit: step };
    const found = await store.transcriptions.listStored(id, query);
    position = found.position;
    return toSegments(transcribed, found.segments);
  });
  const finalIds = new Set(finals.map((segment) => segment.id));
  // A segment may become final between the two reads.
  const others = toSegments(
    transcribed,
    interims.filter((segment) => !finalIds.has(segment.id)),
  );
  return {
    ...toLiveSummary(transcription),
    segments: [...finals.sort(byStart), ...others.map((segment) => ({ ...segment, final: false }))],
    nextCursor: CURSOR.encode(id, position),
    ...(await listWarnings(store, transcription)),
  };
}

function byStart(a: Segment, b: Segment): number {
  return a.start - b.start || (a.id < b.id ? -1 : 1);
}

const LIVE_STATUSES: Readonly<Partial<Record<Transcription['status'], LiveTranscription['status']>>> = {
  active: 'active',
  failed: 'failed',
};

function readError({ errorCode, errorMessage }: Transcription): PostTranscription['error'] {
  return errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' };
}

function toPost(transcription: Transcription): PostTranscription {
  const { egressId, speakers, progress, durationMs } = transcription;
  return {
    transcriptionId: transcription.id,
    recordingId: egressId ?? '',
    roomId: transcription.room,
    status: transcription.status as PostStatus,
    language: transcription.language,
    participants: { ...speakers },
    progress,
    queuedAt: new Date(transcription.createdAt).toISOString(),
    startedAt: toInstant(transcription.startedAt),
    completedAt: toInstant(transcription.endedAt),
    durationMs,
    error: readError(transcription),
  };
}

/** One doubtful segment may be a song or a machine. Speech in another language gives many. */
const MIN_DOUBTFUL = 2;

const MIN_SHARE = 0.1;

/** Returns the warnings about a transcription whose quality is doubtful. */
async function listWarnings(
  store: Pick<TranscriptionStores, 'transcriptions'>,
  { id, language }: Transcription,
): Promise<{ readonly warnings?: TranscriptionWarning[] }> {
  const qualities = await store.transcriptions.listQualities(id);
  const warnings = qualities.filter(isDoubtful).map(({ identity }) => doubtful(identity, language));
  return warnings.length === 0 ? {} : { warnings };
}

function isDoubtful({ segments, doubtful }: SpeechQuality): boolean {
  return doubtful >= MIN_DOUBTFUL && doubtful >= segments * MIN_SHARE;
}

function doubtful(participantIdentity: string | null, language: string): TranscriptionWarning {
  const said = participantIdentity === null ? 'what was said' : `what ${participantIdentity} said`;
  return {
    code: 'language-doubtful',
    participantIdentity,
    detail: `Much of ${said} has a text that nobody can have said: it is probably not ${languageName(language)}.`,
  };
}

function languageName(language: string): string {
  return language === AUTO ? 'in a language that the model knows' : language;
}

type NameSpeakersDeps = { readonly store: UnitOfWork<TranscriptionStores> };

/** Names speakers, also in existing segments. Throws transcription-not-found, and invalid-request for too large a map. */
export async function nameSpeakers(
  { store }: NameSpeakersDeps,
  id: string,
  update: SpeakerUpdate,
): Promise<void> {
  await store.transaction((within) => updateSpeakers(within, id, update));
}

/** Names speakers of the active or newest transcription of a room. */
export async function nameSpeakersOfRoom(
  { store }: NameSpeakersDeps,
  room: string,
  update: SpeakerUpdate,
): Promise<void> {
  await store.transaction(async (within) => {
    const { id } = await findOfRoom(within, room);
    await updateSpeakers(within, id, update);
  });
}

async function updateSpeakers(
  store: TranscriptionStores,
  id: string,
  { participants }: SpeakerUpdate,
): Promise<void> {
  const changed = await store.transcriptions.updateSpeakers(id, participants);
  if (changed === undefined) throw transcriptionNotFound(id);
  if (Object.keys(changed.speakers).length <= MAX_SPEAKERS) return;
  throw refusedField('#/participants', `would make the map larger than ${MAX_SPEAKERS} names`);
}

/**
 * Segments of one transaction. They take about 30 ms on SQLite, where the search index is updated too and no other writer
 * can work.
 */
const SEGMENTS_AT_ONCE = 100;

/**
 * Deletes the segments of a transcription in parts, so that other writers get their turns. An active transcription keeps its
 * segments.
 */
async function deleteSegments(
  transcriptions: Pick<TranscriptionStores['transcriptions'], 'deleteSegments'>,
  id: string,
): Promise<void> {
  while ((await transcriptions.deleteSegments(id, SEGMENTS_AT_ONCE)) === SEGMENTS_AT_ONCE);
}

type PurgeBatch = { readonly before: number; readonly limit: number; readonly signal: AbortSignal };

/** Deletes at most `limit` transcriptions that ended before `before`, one by one, and returns their number. */
export async function purgeTranscriptions(
  { transcriptions }: Pick<TranscriptionStores, 'transcriptions'>,
  { before, limit, signal }: PurgeBatch,
): Promise<number> {
  let deleted = 0;
  for (const id of await transcriptions.listEnded(before, limit)) {
    if (signal.aborted) break;
    await deleteSegments(transcriptions, id);
    if (await transcriptions.delete(id)) deleted += 1;
  }
  return deleted;
}
