import { ServiceError } from '../../contract/errors.ts';
import {
  MAX_SHOWN,
  type Session,
  type SessionDetail,
  SessionDetailSchema,
  type SessionList,
  SessionListQuery,
  SessionListSchema,
  SessionParams,
  type SessionParticipant,
  type SessionParticipantList,
  SessionParticipantListQuery,
  SessionParticipantListSchema,
  type SessionTranscription,
} from '../../contract/sessions.ts';
import { showMetadata } from '../events/event-payload.ts';
import { type Clock, toInstant } from '../platform/clock.ts';
import { type OfRooms, pageReader } from '../platform/http/read-page.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { toRecord } from '../recordings/recordings.ts';
import type { RecordingStore } from '../recordings/store.ts';
import type { Transcription, TranscriptionStore } from '../transcription/store.ts';
import type { ParticipantConnection, SessionRow, SessionStores } from './store.ts';

const DEFAULT_PARTICIPANTS = 200;

export function sessionRoutes(deps: SessionDeps): readonly Route[] {
  return [listRoute(deps), detailRoute(deps), participantsRoute(deps)];
}

export type SessionDeps = {
  readonly store: SessionStores & {
    readonly recordings: Pick<RecordingStore, 'listOfSession'>;
    readonly transcriptions: Pick<TranscriptionStore, 'listOfSession'>;
  };
  readonly clock: Clock;
};

function listRoute(deps: SessionDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/sessions',
    operationId: 'listSessions',
    tag: 'sessions',
    summary: 'List sessions of rooms, newest first',
    description:
      'Lists ended and open rooms; the figures of open rooms are those of this moment. They are computed from stored events, including those that the media server could not deliver.',
    scopes: ['read'],
    ofRooms: 'filtered',
    query: SessionListQuery,
    success: { 200: { description: 'The sessions', schema: SessionListSchema } },
    errors: ['storage-unavailable'],
    handle: async ({ query: { since, until, ...query }, caller }) => ({
      status: 200,
      body: await listSessions(deps, {
        ...query,
        rooms: caller?.rooms,
        since: since === undefined ? undefined : Date.parse(since),
        until: until === undefined ? undefined : Date.parse(until),
      }),
    }),
  });
}

function detailRoute(deps: SessionDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/sessions/:sessionId',
    operationId: 'getSession',
    tag: 'sessions',
    summary: 'Show a session: its participants, recordings and transcriptions',
    description: 'Works while the room is open, and for SESSION_RETENTION after its end.',
    scopes: ['read'],
    params: SessionParams,
    success: { 200: { description: 'The session', schema: SessionDetailSchema } },
    errors: ['session-not-found', 'storage-unavailable'],
    handle: async ({ params }) => ({ status: 200, body: await getSession(deps, params.sessionId) }),
  });
}

function participantsRoute(deps: SessionDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/sessions/:sessionId/participants',
    operationId: 'listSessionParticipants',
    tag: 'sessions',
    summary: 'List the participants of a session, and when they were there',
    description:
      'Lists them in the order in which they joined. Somebody who joined several times is listed several times. Recorders and agents are not listed.',
    scopes: ['read'],
    params: SessionParams,
    query: SessionParticipantListQuery,
    success: { 200: { description: 'The participants', schema: SessionParticipantListSchema } },
    errors: ['session-not-found', 'storage-unavailable'],
    handle: async ({ params, query }) => ({
      status: 200,
      body: await listSessionParticipants(deps, params.sessionId, { limit: DEFAULT_PARTICIPANTS, ...query }),
    }),
  });
}

type SessionsQuery = OfRooms<Omit<SessionListQuery, 'since' | 'until'>> & {
  /** Unix milliseconds. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
};

const readSessions = pageReader('sessions');
const readConnections = pageReader('session-participants');

/** Lists sessions, the newest first. */
export async function listSessions(
  { store, clock }: SessionDeps,
  { roomId: room, rooms, status, since, until, ...asked }: SessionsQuery,
): Promise<SessionList> {
  const now = clock.now();
  const { rows, nextCursor } = await readSessions(asked, async (wanted) => {
    const found = await store.sessions.list({ room, rooms, status, since, until, now, ...wanted });
    return found.map((row) => ({ ...row, id: row.sid }));
  });
  return { sessions: rows.map((row) => toSession(row, now)), nextCursor };
}

/** Returns a session with its first participants. Throws session-not-found. */
export async function getSession({ store, clock }: SessionDeps, sessionId: string): Promise<SessionDetail> {
  const now = clock.now();
  const row = await findSession({ store, clock }, sessionId);
  const { sid: roomSid } = row;
  // Reads one more of each, to know whether there are more than are shown.
  const limit = MAX_SHOWN + 1;
  const participants = await store.sessions.listConnections({ roomSid, limit });
  const recordings = (await store.recordings.listOfSession(roomSid, limit)).filter(
    ({ status }) => status !== 'starting',
  );
  const transcriptions = await store.transcriptions.listOfSession(roomSid, limit);
  return {
    ...toSession(row, now),
    recordings: recordings.slice(0, MAX_SHOWN).map((recording) => toRecord({ clock }, recording)),
    transcriptions: transcriptions.slice(0, MAX_SHOWN).map(toTranscription),
    participants: participants.slice(0, MAX_SHOWN).map((connection) => toParticipant(connection, now)),
    ...(participants.length > MAX_SHOWN && { participantsTruncated: true }),
    ...(recordings.length > MAX_SHOWN && { recordingsTruncated: true }),
    ...(transcriptions.length > MAX_SHOWN && { transcriptionsTruncated: true }),
  };
}

/** Lists the participants of a session in the order in which they joined. Throws session-not-found. */
async function listSessionParticipants(
  { store, clock }: SessionDeps,
  sessionId: string,
  page: SessionParticipantListQuery,
): Promise<SessionParticipantList> {
  const now = clock.now();
  const { sid: roomSid } = await findSession({ store, clock }, sessionId);
  const { rows, nextCursor } = await readConnections(page, async (wanted) => {
    const found = await store.sessions.listConnections({ roomSid, ...wanted });
    return found.map((connection) => ({ ...connection, createdAt: connection.joinedAt, id: connection.sid }));
  });
  return { participants: rows.map((connection) => toParticipant(connection, now)), nextCursor };
}

async function findSession({ store, clock }: SessionDeps, sessionId: string): Promise<SessionRow> {
  const row = await store.sessions.find(sessionId, clock.now());
  if (row !== undefined) return row;
  throw sessionNotFound(sessionId);
}

export function sessionNotFound(id: string): ServiceError {
  return new ServiceError('session-not-found', `There is no session ${JSON.stringify(id)}.`);
}

function toSession(row: SessionRow, now: number): Session {
  const { startedAt, endedAt } = row;
  return {
    sessionId: row.sid,
    roomId: row.name,
    status: endedAt === null ? 'open' : 'ended',
    createdAt: new Date(row.createdAt).toISOString(),
    startedAt: toInstant(startedAt),
    endedAt: toInstant(endedAt),
    ...showMetadata(row.metadata),
    durationMs: startedAt === null ? 0 : Math.max(0, (endedAt ?? now) - startedAt),
    totalParticipants: row.totalParticipants,
    peakParticipants: row.peakParticipants,
    participantMinutes: Math.round(row.participantMs / 600) / 100,
  };
}

function toParticipant(
  { sid, identity, name, accessRole, joinedAt, leftAt }: ParticipantConnection,
  now: number,
) {
  return {
    sid,
    identity,
    name,
    role: accessRole,
    joinedAt: new Date(joinedAt).toISOString(),
    leftAt: toInstant(leftAt),
    durationMs: Math.max(0, (leftAt ?? now) - joinedAt),
  } satisfies SessionParticipant;
}

function toTranscription(transcription: Transcription): SessionTranscription {
  const { id, kind, egressId, status, language, createdAt, endedAt } = transcription;
  return {
    transcriptionId: id,
    kind,
    recordingId: egressId,
    status,
    language,
    startedAt: new Date(createdAt).toISOString(),
    endedAt: toInstant(endedAt),
  };
}
