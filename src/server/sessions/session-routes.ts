import {
  SessionDetailSchema,
  SessionListQuery,
  SessionListSchema,
  SessionParams,
  SessionParticipantListQuery,
  SessionParticipantListSchema,
} from '../../contract/sessions.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { getSession, listSessionParticipants, listSessions, type SessionDeps } from './sessions.ts';

const DEFAULT_LIMIT = 50;
const DEFAULT_PARTICIPANTS = 200;

export function sessionRoutes(deps: SessionDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/sessions',
      operationId: 'listSessions',
      tag: 'sessions',
      summary: 'List sessions of rooms, newest first',
      description:
        'Lists ended and open rooms; the figures of open rooms are those of this moment. They are computed from stored events, including those that the media server could not deliver.',
      security: 'signed',
      scopes: ['read'],
      query: SessionListQuery,
      success: { 200: { description: 'The sessions', schema: SessionListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query: { since, until, ...query } }) => ({
        status: 200,
        body: await listSessions(deps, {
          ...query,
          since: since === undefined ? undefined : Date.parse(since),
          until: until === undefined ? undefined : Date.parse(until),
          limit: query.limit ?? DEFAULT_LIMIT,
        }),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/sessions/:sessionId',
      operationId: 'getSession',
      tag: 'sessions',
      summary: 'Show a session: its participants, recordings and transcriptions',
      description: 'Works while the room is open, and for SESSION_RETENTION after its end.',
      security: 'signed',
      scopes: ['read'],
      params: SessionParams,
      success: { 200: { description: 'The session', schema: SessionDetailSchema } },
      errors: ['session-not-found', 'storage-unavailable'],
      handle: async ({ params }) => ({ status: 200, body: await getSession(deps, params.sessionId) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/sessions/:sessionId/participants',
      operationId: 'listSessionParticipants',
      tag: 'sessions',
      summary: 'List the participants of a session, and when they were there',
      description:
        'Lists them in the order in which they joined. Somebody who joined several times is listed several times. Recorders and agents are not listed.',
      security: 'signed',
      scopes: ['read'],
      params: SessionParams,
      query: SessionParticipantListQuery,
      success: { 200: { description: 'The participants', schema: SessionParticipantListSchema } },
      errors: ['session-not-found', 'storage-unavailable'],
      handle: async ({ params, query }) => ({
        status: 200,
        body: await listSessionParticipants(deps, params.sessionId, {
          cursor: query.cursor,
          limit: query.limit ?? DEFAULT_PARTICIPANTS,
        }),
      }),
    }),
  ];
}
