import { MuteSchema, ParticipantListSchema, ParticipantParams } from '../../contract/participants.ts';
import { RoomParams } from '../../contract/rooms.ts';
import { MEDIA_ERRORS } from '../platform/http/media-errors.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { listParticipants, type ParticipantDeps } from './find-participant.ts';
import { muteParticipant } from './mute-participant.ts';
import { removeParticipant } from './remove-participant.ts';

export function participantRoutes(deps: ParticipantDeps): readonly Route[] {
  return [listRoute(deps), removeRoute(deps), muteRoute(deps)];
}

function listRoute(deps: ParticipantDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/rooms/:roomId/participants',
    operationId: 'listParticipants',
    tag: 'participants',
    summary: 'List the participants of a room',
    description: 'Recorders and hidden agents are not listed; other agents are.',
    security: 'signed',
    params: RoomParams,
    success: { 200: { description: 'The participants', schema: ParticipantListSchema } },
    errors: ['room-not-found', ...MEDIA_ERRORS],
    handle: async ({ params }) => ({
      status: 200,
      body: { participants: await listParticipants(deps, params.roomId) },
    }),
  });
}

function removeRoute(deps: ParticipantDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/rooms/:roomId/participants/:participantId',
    operationId: 'removeParticipant',
    tag: 'participants',
    summary: 'Disconnect a participant',
    description: 'The participant may come back with a token that is still valid.',
    security: 'signed',
    params: ParticipantParams,
    success: { 204: { description: 'The participant is disconnected' } },
    errors: ['room-not-found', 'participant-not-found', ...MEDIA_ERRORS],
    handle: async ({ params }) => {
      await removeParticipant(deps, params.roomId, params.participantId);
      return { status: 204 };
    },
  });
}

function muteRoute(deps: ParticipantDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms/:roomId/participants/:participantId/mute',
    operationId: 'muteParticipant',
    tag: 'participants',
    summary: 'Mute a track of a participant',
    description: 'The participant may unmute itself.',
    security: 'signed',
    params: ParticipantParams,
    body: MuteSchema,
    success: { 204: { description: 'The track is muted' } },
    errors: ['room-not-found', 'participant-not-found', 'track-not-found', ...MEDIA_ERRORS],
    handle: async ({ params, body }) => {
      await muteParticipant(deps, {
        room: params.roomId,
        identity: params.participantId,
        trackSid: body.trackSid,
      });
      return { status: 204 };
    },
  });
}
