import { Type } from 'typebox';
import { RecordingParams } from '../../contract/recordings.ts';
import { RoomParams } from '../../contract/rooms.ts';
import {
  DEFAULT_LANGUAGE,
  LiveTranscriptionSchema,
  type PostQueue,
  type PostQueued,
  PostQueuedSchema,
  PostQueueSchema,
  PostTranscriptionDetailSchema,
  PostTranscriptionListSchema,
  SpeakerUpdateSchema,
  TranscriptionListQuery,
  TranscriptionParams,
  TranscriptionQuery,
  TranscriptSearchQuery,
} from '../../contract/transcription.ts';
import { VocabularySchema } from '../../contract/vocabulary.ts';
import { type TranscriptHit, type TranscriptHitList, TranscriptHitListSchema } from '../../contract/words.ts';
import type { IdGenerator } from '../platform/clock.ts';
import type { KeyLimits } from '../platform/http/limits/key-limits.ts';
import { cursorCodec, type OfRooms } from '../platform/http/read-page.ts';
import { defineRoute, MEDIA_ERRORS, type Route, requireCaller } from '../platform/http/route.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { findFinishedRecording, type LibraryDeps, mayHaveFile, noFile } from '../recordings/recordings.ts';
import type { RecordingStores } from '../recordings/store.ts';
import { toSegment } from './resolve-speakers.ts';
import { formatLanguage, requireWorker, type SpeechWorkerDeps } from './speech-workers.ts';
import type { TranscriptionStores } from './store.ts';
import { TRANSCRIPT_HEADERS, TRANSCRIPT_TEXTS, transcriptResponse } from './transcript-response.ts';
import { deleteTranscription, getTranscription, listTranscriptions, nameSpeakers } from './transcriptions.ts';
import type { VocabularyStores } from './vocabulary/vocabularies.sql.ts';
import type { WordHit, WordStores } from './words/store.ts';
import { SearchTurns, searchWords } from './words/word-routes.ts';

export type TranscriptionsDeps = Omit<QueueTranscriptionDeps, 'store'> & {
  readonly store: UnitOfWork<TranscriptionStores> &
    Pick<RecordingStores, 'recordings'> &
    Pick<WordStores, 'words'>;
};

const BY_ID = '/v1/transcriptions/:transcriptionId';

const ERRORS = ['transcription-not-found', 'storage-unavailable'] as const;

const DEFAULT_LIMIT = 50;

/** Transcription of recordings, after the call. */
export function transcriptionsRoutes(deps: TranscriptionsDeps): readonly Route[] {
  const searching = { ...deps, turns: new SearchTurns(deps.clock) };
  return [
    ...[queueRoute(deps), listRoute(searching), searchRoute(searching), readRoute(deps)],
    ...[speakersRoute(deps), deleteRoute(deps)],
  ];
}

function queueRoute(deps: TranscriptionsDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/recordings/:recordingId/transcribe',
    operationId: 'createTranscription',
    tag: 'transcription',
    summary: 'Transcribe a recording after the call',
    description:
      'Needs a running stt-post worker. A recording has one transcription per language: an existing one is returned, unless it failed.',
    scopes: ['recordings'],
    params: RecordingParams,
    body: PostQueueSchema,
    success: { 202: { description: 'The recording will be transcribed', schema: PostQueuedSchema } },
    errors: [
      'addon-unavailable',
      'recording-not-found',
      'recording-file-not-found',
      'recording-not-finished',
      'recording-storage-error',
      'storage-unavailable',
      ...MEDIA_ERRORS,
    ],
    handle: async ({ params, body }) => {
      const queued = await queueTranscription(deps, params.recordingId, body);
      return { status: 202, body: queued, ids: { transcriptionId: queued.transcriptionId } };
    },
  });
}

type SearchingDeps = TranscriptionsDeps & { readonly turns: SearchTurns };

function listRoute(deps: TranscriptionsDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/transcriptions',
    operationId: 'listTranscriptions',
    tag: 'transcription',
    summary: 'List the transcriptions of recordings',
    description:
      'The newest first. The live transcription of a room is read at the room. To search the transcripts, use GET /v1/transcriptions/search.',
    scopes: ['read', 'recordings'],
    ofRooms: 'filtered',
    query: TranscriptionListQuery,
    success: {
      200: {
        description: 'Transcriptions without their segments',
        schema: PostTranscriptionListSchema,
      },
    },
    errors: ['storage-unavailable'],
    handle: async ({ query, caller }) => ({
      status: 200,
      body: await listTranscriptions(deps, { ...query, rooms: caller?.rooms }),
    }),
  });
}

function searchRoute(deps: SearchingDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/transcriptions/search',
    operationId: 'searchTranscripts',
    tag: 'transcription',
    summary: 'Search all transcripts',
    description:
      'Returns the segments of live transcriptions and of recordings that contain all of the words, the newest first. A page may have fewer segments than `limit`, even none, while `nextCursor` is not null: the search has used its time, and the cursor goes on from there. Each instance runs two searches at once, lets eight wait, and answers others with 503 and Retry-After.',
    scopes: ['read', 'recordings'],
    ofRooms: 'filtered',
    query: TranscriptSearchQuery,
    success: { 200: { description: 'The matching segments', schema: TranscriptHitListSchema } },
    errors: ['server-busy', 'storage-unavailable'],
    handle: async ({ query, caller }) => ({
      status: 200,
      body: await searchTranscripts(deps, { ...query, rooms: caller?.rooms }),
    }),
  });
}

function readRoute(deps: TranscriptionsDeps): Route {
  return defineRoute({
    method: 'GET',
    path: BY_ID,
    operationId: 'getTranscriptionById',
    tag: 'transcription',
    summary: 'Read a transcription with its segments',
    description:
      'Returns a post-call transcription, or a live one in the same form as at its room. With `limit`, pages: continue with nextCursor, of a live transcription until there are no more segments. A text format has the cursor in the header X-Next-Cursor while there may be more.',
    scopes: ['read', 'recordings'],
    params: TranscriptionParams,
    query: TranscriptionQuery,
    success: {
      200: {
        description: 'The transcription with its segments so far',
        schema: Type.Union([PostTranscriptionDetailSchema, LiveTranscriptionSchema]),
        examplesByType: TRANSCRIPT_TEXTS,
        headers: TRANSCRIPT_HEADERS,
      },
    },
    errors: ERRORS,
    handle: async ({ params, query }) =>
      transcriptResponse(await getTranscription(deps, params.transcriptionId, query), query),
  });
}

function speakersRoute(deps: TranscriptionsDeps): Route {
  return defineRoute({
    method: 'PATCH',
    path: `${BY_ID}/speakers`,
    operationId: 'nameSpeakersById',
    tag: 'transcription',
    summary: 'Name the speakers of a transcription',
    description: 'Changes a post-call or a live transcription, including its existing segments.',
    scopes: ['recordings'],
    params: TranscriptionParams,
    body: SpeakerUpdateSchema,
    success: { 204: { description: 'The names are merged into the map' } },
    errors: ERRORS,
    handle: async ({ params, body }) => {
      await nameSpeakers(deps, params.transcriptionId, body);
      return { status: 204 };
    },
  });
}

function deleteRoute(deps: TranscriptionsDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: BY_ID,
    operationId: 'deleteTranscription',
    tag: 'transcription',
    summary: 'Delete a transcription with all its segments',
    description: 'Stop a live transcription first. A worker that is transcribing the recording stops.',
    scopes: ['recordings'],
    params: TranscriptionParams,
    success: { 204: { description: 'The transcription is deleted' } },
    errors: ['conflict', ...ERRORS],
    handle: async ({ params }) => {
      await deleteTranscription(deps, params.transcriptionId);
      return { status: 204 };
    },
  });
}

type QueueTranscriptionDeps = LibraryDeps & SpeechWorkerDeps & { readonly ids: IdGenerator };

/**
 * Queues a recording for the stt-post workers, or returns its existing transcription in this language unless that one
 * failed. Throws addon-unavailable, invalid-request for a language that no worker supports, recording-not-found,
 * recording-not-finished and recording-file-not-found.
 */
async function queueTranscription(
  deps: QueueTranscriptionDeps,
  recordingId: string,
  request: PostQueue,
): Promise<PostQueued> {
  const language = formatLanguage(request.language ?? DEFAULT_LANGUAGE);
  await requireWorker(deps, 'stt-post', language);
  const recording = await findFinishedRecording(deps, recordingId);
  const { egressId } = recording;
  if (egressId === null || !mayHaveFile(recording)) throw noFile(recording);
  const { transcription } = await deps.store.transcriptions.enqueuePost({
    id: `tr_${deps.ids.next()}`,
    room: recording.room,
    roomSid: recording.roomSid,
    recordingId: recording.id,
    egressId,
    language,
    speakers: request.participants ?? {},
    createdAt: deps.clock.now(),
    originAt: recording.mediaStartedAt ?? recording.startedAt ?? recording.createdAt,
  });
  return {
    transcriptionId: transcription.id,
    recordingId: egressId,
    // It is never `failed`: a new transcription replaces a failed one.
    status: transcription.status as PostQueued['status'],
    queuedAt: new Date(transcription.createdAt).toISOString(),
  };
}

const positions = cursorCodec('hits', 'number');

/** Finds segments that have all words of `q`, those that were stored last first. */
async function searchTranscripts(
  { store, clock, turns }: Pick<SearchingDeps, 'store' | 'clock' | 'turns'>,
  { q: text, roomId: room, rooms, recordingId: egressId, language, ...asked }: OfRooms<TranscriptSearchQuery>,
): Promise<TranscriptHitList> {
  const { limit = DEFAULT_LIMIT, cursor } = asked;
  const page = {
    text,
    room,
    rooms,
    egressId,
    language,
    limit,
    since: readInstant(asked.since),
    until: readInstant(asked.until),
    before: cursor === undefined ? undefined : positions.decode(cursor)[0],
  };
  const { hits, nextBefore } = await turns.run(() => searchWords({ words: store.words, clock }, page));
  return { hits: hits.map(toHit), nextCursor: nextBefore === null ? null : positions.encode(nextBefore) };
}

function toHit({ pieces, ...found }: WordHit): TranscriptHit {
  const { kind, room, egressId } = found.transcription;
  return {
    kind,
    roomId: room,
    recordingId: egressId,
    segment: toSegment(found),
    highlighted: pieces
      .map((text, index) => ({ text, match: index % 2 === 1 }))
      .filter(({ text }) => text !== ''),
  };
}

function readInstant(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

const ROUTE = {
  path: '/v1/rooms/:roomId/vocabulary',
  tag: 'transcription',
  params: RoomParams,
  errors: ['storage-unavailable'],
} as const;

export type VocabularyDeps = {
  readonly store: VocabularyStores;
  readonly keyLimits: Pick<KeyLimits, 'quota' | 'refuse'>;
};

/** Names and terms that are likely to be said in a room. */
export function vocabularyRoutes({ store, keyLimits }: VocabularyDeps): readonly Route[] {
  return [
    defineRoute({
      ...ROUTE,
      method: 'GET',
      operationId: 'getVocabulary',
      summary: 'Read the vocabulary of a room',
      description: 'Empty if the room has none. The room does not have to be open.',
      scopes: ['read', 'rooms'],
      success: { 200: { description: 'The vocabulary', schema: VocabularySchema } },
      handle: async ({ params }) => ({
        status: 200,
        body: { terms: [...(await store.vocabularies.find(params.roomId))] },
      }),
    }),
    defineRoute({
      ...ROUTE,
      method: 'PUT',
      operationId: 'setVocabulary',
      summary: 'Replace the vocabulary of a room',
      description:
        'Transcriptions that begin afterwards prefer these names and terms, live and of recordings, if their model supports it. Repeated terms are stored once. The room does not have to be open, and keeps its vocabulary after its end.',
      scopes: ['rooms'],
      body: VocabularySchema,
      success: { 200: { description: 'The vocabulary as it is stored', schema: VocabularySchema } },
      errors: ['key-limit-reached', 'storage-unavailable'],
      handle: async ({ params, body, caller }) => {
        const by = requireCaller(caller);
        const terms = [...new Set(body.terms.map((term) => term.trim().replace(/\s+/gu, ' ')))];
        const vocabulary = { room: params.roomId, terms };
        if (!(await store.vocabularies.save(vocabulary, keyLimits.quota('vocabularies', by))))
          throw keyLimits.refuse('vocabularies', by);
        return { status: 200, body: { terms } };
      },
    }),
    defineRoute({
      ...ROUTE,
      method: 'DELETE',
      operationId: 'deleteVocabulary',
      summary: 'Delete the vocabulary of a room',
      description: 'Succeeds also if there is none.',
      scopes: ['rooms'],
      success: { 204: { description: 'The room has no vocabulary' } },
      handle: async ({ params }) => {
        await store.vocabularies.delete(params.roomId);
        return { status: 204 };
      },
    }),
  ];
}
