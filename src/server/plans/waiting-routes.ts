import { RoomParams } from '../../contract/rooms.ts';
import {
  AdmittedListSchema,
  AdmittedPersonSchema,
  MOST_ADMITTED,
  WaitingListSchema,
  WaitingParams,
} from '../../contract/waiting.ts';
import { defineRoute, MEDIA_ERRORS, type Route } from '../platform/http/route.ts';
import { admitAll, admitPerson, denyPerson, listWaiting, type WaitingDeps } from './waiting.ts';

const DECISION = { tag: 'participants', method: 'POST', scopes: ['rooms'] } as const;

/** People who wait until they are admitted to a room with a lobby. */
export function waitingRoutes(deps: WaitingDeps): readonly Route[] {
  return [
    defineRoute({
      tag: 'participants',
      method: 'GET',
      path: '/v1/rooms/:roomId/waiting',
      operationId: 'listWaiting',
      summary: 'List the people who wait for a room',
      description: 'The longest first. The room need not be open.',
      scopes: ['read', 'rooms'],
      params: RoomParams,
      success: { 200: { description: 'Who waits', schema: WaitingListSchema } },
      errors: ['storage-unavailable', ...MEDIA_ERRORS],
      handle: async ({ params }) => ({ status: 200, body: await listWaiting(deps, params.roomId) }),
    }),
    admitRoute(deps),
    defineRoute({
      ...DECISION,
      path: '/v1/rooms/:roomId/waiting/:participantId/deny',
      operationId: 'denyWaiting',
      summary: 'Deny somebody who waits',
      description:
        'Disconnects the person, who cannot come again with the same token, but with another one. Somebody who was admitted is 409.',
      params: WaitingParams,
      success: { 204: { description: 'The person is denied' } },
      errors: ['waiting-not-found', 'conflict', 'storage-unavailable', ...MEDIA_ERRORS],
      handle: async ({ params }) => {
        await denyPerson(deps, { room: params.roomId, identity: params.participantId });
        return { status: 204 };
      },
    }),
    defineRoute({
      ...DECISION,
      path: '/v1/rooms/:roomId/waiting/admit-all',
      operationId: 'admitAllWaiting',
      summary: 'Admit everybody who waits',
      description: `The longest first, at most ${MOST_ADMITTED} at once: repeat it when the response has \`admittedTruncated\`.`,
      params: RoomParams,
      success: { 200: { description: 'Who was admitted', schema: AdmittedListSchema } },
      errors: ['room-closed', 'room-not-open-yet', 'storage-unavailable', ...MEDIA_ERRORS],
      handle: async ({ params }) => ({ status: 200, body: await admitAll(deps, params.roomId) }),
    }),
  ];
}

function admitRoute(deps: WaitingDeps): Route {
  return defineRoute({
    ...DECISION,
    path: '/v1/rooms/:roomId/waiting/:participantId/admit',
    operationId: 'admitWaiting',
    summary: 'Admit somebody who waits',
    description:
      'The person gets the token of the room by data on the topic `rtc.admitted`, and you by the response. Once more for the same person, it only gives another token. Somebody who was denied is 409.',
    params: WaitingParams,
    success: { 200: { description: 'Who was admitted, with the token', schema: AdmittedPersonSchema } },
    errors: [
      'waiting-not-found',
      'conflict',
      'participant-blocked',
      'room-closed',
      'room-not-open-yet',
      'storage-unavailable',
      ...MEDIA_ERRORS,
    ],
    handle: async ({ params }) => {
      const subject = { room: params.roomId, identity: params.participantId };
      return { status: 200, body: await admitPerson(deps, subject) };
    },
  });
}
