import { RoomParams } from '../../contract/rooms.ts';
import {
  DEFAULT_LANGUAGE,
  LiveListQuery,
  type LiveStart,
  type LiveStarted,
  LiveStartedSchema,
  LiveStartSchema,
  LiveStoppedSchema,
  type LiveTranscriptionList,
  LiveTranscriptionListSchema,
  LiveTranscriptionQuery,
  LiveTranscriptionSchema,
  SpeakerUpdateSchema,
} from '../../contract/transcription.ts';
import type { AppendEventsDeps } from '../events/append-events.ts';
import type { IdGenerator } from '../platform/clock.ts';
import { type OfRooms, pageReader } from '../platform/http/read-page.ts';
import { defineRoute, MEDIA_ERRORS, type Route } from '../platform/http/route.ts';
import type { WaitForChangeDeps } from '../platform/storage/changes.ts';
import type { FindPlan } from '../rooms/plans/plans.ts';
import { getRoom, type MediaDeps } from '../rooms/rooms.ts';
import { formatLanguage, requireWorker, type SpeechWorkerDeps } from './speech-workers.ts';
import { stopTranscription } from './stop-transcription.ts';
import type { TranscriptionStores } from './store.ts';
import { TRANSCRIPT_HEADERS, TRANSCRIPT_TEXTS, transcriptResponse } from './transcript-response.ts';
import { getRoomTranscription, nameSpeakersOfRoom, toLiveSummary } from './transcriptions.ts';

export type TranscriptionDeps = StartTranscriptionDeps &
  AppendEventsDeps<TranscriptionStores> &
  WaitForChangeDeps;

const LANGUAGE_IGNORED = 'x-transcription-language-ignored';

const IN_ROOM = '/v1/rooms/:roomId/transcription';

const ERRORS = ['transcription-not-found', 'storage-unavailable'] as const;

/** Live transcription of a room. */
export function transcriptionRoutes(deps: TranscriptionDeps): readonly Route[] {
  return [startRoute(deps), stopRoute(deps), readRoute(deps), listRoute(deps), speakersRoute(deps)];
}

function startRoute(deps: TranscriptionDeps): Route {
  return defineRoute({
    method: 'POST',
    path: `${IN_ROOM}/start`,
    operationId: 'startTranscription',
    tag: 'transcription',
    summary: 'Transcribe a room live',
    description:
      'Needs a running stt-live worker. A room has one transcription at a time: while one is active, a further start returns it unchanged.',
    scopes: ['recordings'],
    params: RoomParams,
    body: LiveStartSchema,
    success: {
      201: {
        description: 'The room is being transcribed',
        schema: LiveStartedSchema,
        headers: {
          [LANGUAGE_IGNORED]: 'The requested language, when a transcription in another one is active',
        },
      },
    },
    errors: ['addon-unavailable', 'room-not-found', 'storage-unavailable', ...MEDIA_ERRORS],
    handle: async ({ params, body }) => {
      const { started, ignoredLanguage } = await startTranscription(deps, params.roomId, body);
      const headers = ignoredLanguage === undefined ? {} : { [LANGUAGE_IGNORED]: ignoredLanguage };
      return { status: 201, body: started, headers, ids: { transcriptionId: started.transcriptionId } };
    },
  });
}

function stopRoute(deps: TranscriptionDeps): Route {
  return defineRoute({
    method: 'POST',
    path: `${IN_ROOM}/stop`,
    operationId: 'stopTranscription',
    tag: 'transcription',
    summary: 'Stop transcribing a room',
    description:
      'The segments so far are kept, and no further ones are added. The end of a room stops it too.',
    scopes: ['recordings'],
    params: RoomParams,
    success: { 200: { description: 'The transcription is stopped', schema: LiveStoppedSchema } },
    errors: ERRORS,
    handle: async ({ params }) => ({ status: 200, body: await stopTranscription(deps, params.roomId) }),
  });
}

function readRoute(deps: TranscriptionDeps): Route {
  return defineRoute({
    method: 'GET',
    path: IN_ROOM,
    operationId: 'getTranscription',
    tag: 'transcription',
    summary: 'Read the live transcription of a room',
    description:
      'Returns the active transcription, or the last one, also after the room has ended. If you continue with nextCursor, you miss no segment. With `wait`, the response comes as soon as a segment is stored.',
    scopes: ['read', 'recordings'],
    params: RoomParams,
    query: LiveTranscriptionQuery,
    success: {
      200: {
        description: 'The transcription with its segments, ordered by start',
        schema: LiveTranscriptionSchema,
        examplesByType: TRANSCRIPT_TEXTS,
        headers: TRANSCRIPT_HEADERS,
      },
    },
    errors: ERRORS,
    handle: async ({ params, query }) => {
      const since = query.since === undefined ? undefined : Date.parse(query.since);
      const { cursor, limit, wait: waitSeconds = 0 } = query;
      const reading = { since, cursor, limit, waitSeconds: cursor === undefined ? 0 : waitSeconds };
      return transcriptResponse(await getRoomTranscription(deps, params.roomId, reading), query);
    },
  });
}

function listRoute(deps: TranscriptionDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/transcriptions/live',
    operationId: 'listLiveTranscriptions',
    tag: 'transcription',
    summary: 'List the live transcriptions of all rooms',
    description: 'The newest first, active or not, without their segments.',
    scopes: ['read', 'recordings'],
    ofRooms: 'filtered',
    query: LiveListQuery,
    success: { 200: { description: 'The transcriptions', schema: LiveTranscriptionListSchema } },
    errors: ['storage-unavailable'],
    handle: async ({ query, caller }) => ({
      status: 200,
      body: await listLiveTranscriptions(deps, { ...query, rooms: caller?.rooms }),
    }),
  });
}

const readLivePage = pageReader('live-transcriptions');

/** Lists the live transcriptions of all rooms, the newest first. */
async function listLiveTranscriptions(
  { store }: Pick<TranscriptionDeps, 'store'>,
  { roomId: room, rooms, status, ...asked }: OfRooms<LiveListQuery>,
): Promise<LiveTranscriptionList> {
  const { rows, nextCursor } = await readLivePage(asked, (wanted) =>
    store.transcriptions.listNewest({ kind: 'live', room, rooms, status, ...wanted }),
  );
  return { transcriptions: rows.map(toLiveSummary), nextCursor };
}

function speakersRoute(deps: TranscriptionDeps): Route {
  return defineRoute({
    method: 'PATCH',
    path: `${IN_ROOM}/speakers`,
    operationId: 'nameSpeakers',
    tag: 'transcription',
    summary: 'Name the speakers of a room',
    description: 'Changes the active transcription, or the last one, including its existing segments.',
    scopes: ['recordings'],
    params: RoomParams,
    body: SpeakerUpdateSchema,
    success: { 204: { description: 'The names are merged into the map' } },
    errors: ERRORS,
    handle: async ({ params, body }) => {
      await nameSpeakersOfRoom(deps, params.roomId, body);
      return { status: 204 };
    },
  });
}

export type StartTranscriptionDeps = SpeechWorkerDeps &
  MediaDeps & { readonly ids: IdGenerator; readonly findPlan: FindPlan };

type StartedTranscription = {
  readonly started: LiveStarted;
  /** The requested language, when a transcription in another language is active. */
  readonly ignoredLanguage: string | undefined;
};

/**
 * Returns the active transcription of the room, or starts a new one, which a worker then claims. Throws
 * addon-unavailable, invalid-request for a language that no worker supports, and room-not-found.
 */
export async function startTranscription(
  deps: StartTranscriptionDeps,
  room: string,
  request: LiveStart,
): Promise<StartedTranscription> {
  const planned = request.language === undefined ? await deps.findPlan(room) : undefined;
  const language = formatLanguage(request.language ?? planned?.language ?? DEFAULT_LANGUAGE);
  await requireWorker(deps, 'stt-live', language);
  const { sid: roomSid } = await getRoom(deps, room);
  const { options, participants } = request;
  const { transcription } = await deps.store.transcriptions.startLive({
    id: `tr_${deps.ids.next()}`,
    room,
    roomSid,
    language,
    speakers: participants ?? {},
    options: {
      partialResults: options?.partialResults ?? false,
      captions: options?.captions ?? true,
      punctuation: options?.punctuation ?? true,
      profanityFilter: options?.profanityFilter ?? false,
    },
    createdAt: deps.clock.now(),
  });
  const isIgnored = request.language !== undefined && language !== transcription.language;
  return {
    ignoredLanguage: isIgnored ? language : undefined,
    started: {
      transcriptionId: transcription.id,
      roomId: room,
      status: 'active',
      language: transcription.language,
      startedAt: new Date(transcription.createdAt).toISOString(),
    },
  };
}
