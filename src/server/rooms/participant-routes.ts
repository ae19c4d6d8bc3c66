import {
  BlockListQuery,
  BlockListSchema,
  BlockParams,
  parseBlockDuration,
  RemoveParticipantQuery,
  RoomBlockListSchema,
} from '../../contract/blocks.ts';
import {
  MuteSchema,
  ParticipantListQuery,
  ParticipantListSchema,
  ParticipantParams,
  ParticipantPatchSchema,
  ParticipantSchema,
  RoomMutedSchema,
  RoomMuteSchema,
} from '../../contract/participants.ts';
import { RoomParams } from '../../contract/rooms.ts';
import { exactMember } from '../platform/http/bodies/read-body.ts';
import { defineRoute, MEDIA_ERRORS, type Route, requireCaller } from '../platform/http/route.ts';
import {
  type BlockDeps,
  type BlockIdentityDeps,
  listBlocks,
  listBlocksOfRooms,
  removeBlock,
} from './blocks/blocks.ts';
import {
  listParticipants,
  muteParticipant,
  muteRoom,
  type ParticipantDeps,
  removeParticipant,
  unmuteParticipant,
  updateParticipant,
} from './participants.ts';

export type ParticipantRouteDeps = ParticipantDeps & BlockIdentityDeps;

export function participantRoutes(deps: ParticipantRouteDeps): readonly Route[] {
  return [listRoute(deps), updateRoute(deps), removeRoute(deps), muteRoute(deps), muteRoomRoute(deps)];
}

function listRoute(deps: ParticipantDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/rooms/:roomId/participants',
    operationId: 'listParticipants',
    tag: 'participants',
    summary: 'List the participants of a room',
    description:
      'By identity. Recorders and hidden agents are not listed; other agents are. Without `limit`, everyone at once, which takes long for rooms with hundreds of people.',
    scopes: ['read', 'rooms'],
    params: RoomParams,
    query: ParticipantListQuery,
    success: { 200: { description: 'The participants', schema: ParticipantListSchema } },
    errors: ['room-not-found', ...MEDIA_ERRORS],
    handle: async ({ params, query }) => ({
      status: 200,
      body: await listParticipants(deps, params.roomId, query),
    }),
  });
}

function updateRoute(deps: ParticipantDeps): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/rooms/:roomId/participants/:participantId',
    operationId: 'updateParticipant',
    tag: 'participants',
    summary: "Change a participant's name, metadata, attributes or role",
    description:
      'Everyone in the room sees the change at once. A role changes what the participant may publish, receive and send, ends tracks that it may no longer publish, and is kept when its client reconnects. It lasts until the participant leaves: a token that you issue later has the role that you ask for. LiveKit grants room administration, which a host has, by token only: this request neither grants nor revokes it.',
    scopes: ['rooms'],
    params: ParticipantParams,
    body: ParticipantPatchSchema,
    success: { 200: { description: 'The participant after the change', schema: ParticipantSchema } },
    errors: ['room-not-found', 'participant-not-found', ...MEDIA_ERRORS],
    handle: async ({ params, body, raw }) => {
      // Numbers that parsing would change are passed on as they were sent.
      const metadata = exactMember(raw.body, 'metadata', body.metadata);
      const patch = metadata === undefined ? body : { ...body, metadata };
      const { roomId: room, participantId: identity } = params;
      return { status: 200, body: await updateParticipant(deps, { room, identity, patch }) };
    },
  });
}

function removeRoute(deps: ParticipantRouteDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/rooms/:roomId/participants/:participantId',
    operationId: 'removeParticipant',
    tag: 'participants',
    summary: 'Disconnect a participant',
    description:
      'Without `block`, the participant can come back with a token that is still valid. With `block`, the identity is kept out of every room of this name: it gets no token (403 `participant-blocked`), and if it joins with an older token, it is removed as soon as the media server reports the join. You can block an identity that is not in the room, and a room that is not open. The block is stored before the removal, and stays when the removal fails; a further one replaces it.',
    scopes: ['rooms'],
    params: ParticipantParams,
    query: RemoveParticipantQuery,
    success: {
      204: {
        description: 'The participant is disconnected, and blocked on request',
        headers: {
          'X-Participant-Removed': 'Only with `block`: `false` when nobody was disconnected, else `true`',
        },
      },
    },
    errors: [
      'key-limit-reached',
      'room-not-found',
      'participant-not-found',
      'storage-unavailable',
      ...MEDIA_ERRORS,
    ],
    handle: async ({ params, query, caller }) => {
      const duration = query.block === undefined ? undefined : parseBlockDuration(query.block);
      const block = duration === undefined ? undefined : { duration, caller: requireCaller(caller) };
      const { roomId: room, participantId: identity } = params;
      const isRemoved = await removeParticipant(deps, { room, identity, block });
      if (block === undefined) return { status: 204 };
      return { status: 204, headers: { 'x-participant-removed': `${isRemoved}` } };
    },
  });
}

function muteRoute(deps: ParticipantDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms/:roomId/participants/:participantId/mute',
    operationId: 'muteParticipant',
    tag: 'participants',
    summary: 'Mute or unmute a track of a participant',
    description:
      'The participant can unmute itself. Unmuting is refused with 409 unless the media server is configured to allow it.',
    scopes: ['rooms'],
    params: ParticipantParams,
    body: MuteSchema,
    success: { 204: { description: 'The track is muted, or unmuted' } },
    errors: ['room-not-found', 'participant-not-found', 'track-not-found', 'conflict', ...MEDIA_ERRORS],
    handle: async ({ params, body }) => {
      const { roomId: room, participantId: identity } = params;
      const { trackSid, muted = true } = body;
      await (muted ? muteParticipant : unmuteParticipant)(deps, { room, identity, trackSid });
      return { status: 204 };
    },
  });
}

function muteRoomRoute(deps: ParticipantDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms/:roomId/mute',
    operationId: 'muteRoom',
    tag: 'participants',
    summary: 'Mute everybody in a room',
    description:
      'Mutes the tracks that are published now. Participants can unmute themselves, and publish new tracks. One request mutes at most 1,000 tracks: repeat it when the response has `mutedTruncated`. After an error, some tracks are muted: repeat the request.',
    scopes: ['rooms'],
    params: RoomParams,
    body: RoomMuteSchema,
    success: { 200: { description: 'What was muted', schema: RoomMutedSchema } },
    errors: ['room-not-found', ...MEDIA_ERRORS],
    handle: async ({ params, body }) => ({ status: 200, body: await muteRoom(deps, params.roomId, body) }),
  });
}

export function blockRoutes(deps: BlockDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/rooms/:roomId/blocks',
      operationId: 'listBlocks',
      tag: 'participants',
      summary: 'List the blocked identities of a room',
      description:
        'Ordered by identity. The room does not have to be open. Blocks that have ended are not listed.',
      scopes: ['read', 'rooms'],
      params: RoomParams,
      query: BlockListQuery,
      success: { 200: { description: 'The blocks', schema: BlockListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ params, query }) => ({
        status: 200,
        body: await listBlocks(deps, params.roomId, query),
      }),
    }),
    blocksOfRoomsRoute(deps),
    defineRoute({
      method: 'DELETE',
      path: '/v1/rooms/:roomId/blocks/:participantId',
      operationId: 'removeBlock',
      tag: 'participants',
      summary: 'Let an identity into the room again',
      description: 'The identity gets tokens again, and can join with one that is still valid.',
      scopes: ['rooms'],
      params: BlockParams,
      success: { 204: { description: 'The identity is no longer blocked' } },
      errors: ['block-not-found', 'storage-unavailable'],
      handle: async ({ params }) => {
        await removeBlock(deps, { room: params.roomId, identity: params.participantId });
        return { status: 204 };
      },
    }),
  ];
}

function blocksOfRoomsRoute(deps: BlockDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/blocks',
    operationId: 'listBlocksOfRooms',
    tag: 'participants',
    summary: 'List the blocked identities of all rooms',
    description: 'Ordered by room and identity. Blocks that have ended are not listed.',
    scopes: ['read', 'rooms'],
    ofRooms: 'filtered',
    query: BlockListQuery,
    success: { 200: { description: 'The blocks', schema: RoomBlockListSchema } },
    errors: ['storage-unavailable'],
    handle: async ({ query, caller }) => ({
      status: 200,
      body: await listBlocksOfRooms(deps, { ...query, rooms: caller?.rooms }),
    }),
  });
}
