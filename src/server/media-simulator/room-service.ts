import {
  CreateRoomRequest,
  DeleteRoomRequest,
  DeleteRoomResponse,
  DisconnectReason,
  ListAgentDispatchRequest,
  ListAgentDispatchResponse,
  ListParticipantsRequest,
  ListParticipantsResponse,
  ListRoomsRequest,
  ListRoomsResponse,
  MuteRoomTrackRequest,
  MuteRoomTrackResponse,
  type ParticipantInfo,
  RemoveParticipantResponse,
  RoomParticipantIdentity,
  SendDataRequest,
  SendDataResponse,
  type TrackSource,
  UpdateParticipantRequest,
  UpdateRoomMetadataRequest,
} from '@livekit/protocol';
import type { Rooms } from './rooms.ts';
import type { SimulatorContext } from './settings.ts';
import {
  ensureGrant,
  ensureRoomAdmin,
  psrpcError,
  TwirpError,
  type TwirpService,
  twirpMethod,
} from './twirp.ts';

const MAX_NAME_BYTES = 256;
const MAX_METADATA_BYTES = 512 * 1024;

/** Implements livekit.RoomService with LiveKit's order of checks and its error texts. */
export function roomService(context: SimulatorContext, rooms: Rooms): TwirpService {
  return {
    ...roomMethods(rooms),
    ...participantMethods(context, rooms),
    ...dataMethods(context, rooms),
  };
}

function roomMethods(rooms: Rooms): TwirpService {
  return {
    CreateRoom: twirpMethod(CreateRoomRequest, (request, access) => {
      ensureGrant(access, 'roomCreate');
      if (Buffer.byteLength(request.name) > MAX_NAME_BYTES) {
        const message = `room name length exceeds limits: max length ${MAX_NAME_BYTES}`;
        throw psrpcError('invalid_argument', message);
      }
      ensureMetadataFits(request.metadata);
      return rooms.open(request);
    }),
    ListRooms: twirpMethod(ListRoomsRequest, ({ names }, access) => {
      ensureGrant(access, 'roomList');
      const found = rooms.list().filter(({ name }) => names.length === 0 || names.includes(name));
      return new ListRoomsResponse({ rooms: [...found] });
    }),
    DeleteRoom: twirpMethod(DeleteRoomRequest, ({ room }, access) => {
      ensureGrant(access, 'roomCreate');
      ensureRoom(rooms, room);
      rooms.close(room, DisconnectReason.ROOM_DELETED);
      return new DeleteRoomResponse();
    }),
    UpdateRoomMetadata: twirpMethod(UpdateRoomMetadataRequest, ({ room, metadata }, access) => {
      ensureMetadataFits(metadata);
      ensureRoomAdmin(access, room);
      ensureRoom(rooms, room);
      return rooms.setMetadata(room, metadata);
    }),
  };
}

function participantMethods(context: SimulatorContext, rooms: Rooms): TwirpService {
  return {
    ListParticipants: twirpMethod(ListParticipantsRequest, ({ room }, access) => {
      ensureRoomAdmin(access, room);
      return new ListParticipantsResponse({
        participants: [...(rooms.find(room)?.participants.values() ?? [])],
      });
    }),
    GetParticipant: twirpMethod(RoomParticipantIdentity, ({ room, identity }, access): ParticipantInfo => {
      ensureRoomAdmin(access, room);
      return findParticipant(rooms, room, identity);
    }),
    RemoveParticipant: twirpMethod(RoomParticipantIdentity, ({ room, identity }, access) => {
      ensureRoomAdmin(access, room);
      findParticipant(rooms, room, identity);
      rooms.leave(room, identity, DisconnectReason.PARTICIPANT_REMOVED);
      return new RemoveParticipantResponse();
    }),
    MutePublishedTrack: twirpMethod(MuteRoomTrackRequest, async (request, access) => {
      ensureRoomAdmin(access, request.room);
      const participant = rooms.find(request.room)?.participants.get(request.identity);
      if (participant === undefined) {
        // The real server asks the process of the participant, which does not respond.
        await context.clock.sleep(context.timings.noResponseMs, context.closing);
        throw psrpcError('unavailable', 'no response from servers');
      }
      if (!request.muted && !context.enableRemoteUnmute) {
        throw psrpcError('failed_precondition', 'remote unmute not enabled');
      }
      return setMuted(participant, request);
    }),
    UpdateParticipant: twirpMethod(UpdateParticipantRequest, (request, access) => {
      if (Buffer.byteLength(request.name) > MAX_NAME_BYTES) {
        throw limitFailure('name length exceeds limits', MAX_NAME_BYTES);
      }
      ensureMetadataFits(request.metadata);
      ensureRoomAdmin(access, request.room);
      const participant = update(findParticipant(rooms, request.room, request.identity), request);
      endForbiddenTracks(rooms, request.room, participant);
      return participant;
    }),
  };
}

/** Accepts data for participants. No client can connect to receive it. */
function dataMethods(context: SimulatorContext, rooms: Rooms): TwirpService {
  return {
    SendData: twirpMethod(SendDataRequest, async ({ room }, access) => {
      ensureRoomAdmin(access, room);
      if (rooms.find(room) !== undefined) return new SendDataResponse();
      await context.clock.sleep(context.timings.noResponseMs, context.closing);
      throw psrpcError('unavailable', 'no response from servers');
    }),
  };
}

/** LiveKit responds with 200 and no track when the track is unknown. */
function setMuted(
  participant: ParticipantInfo,
  { trackSid, muted }: MuteRoomTrackRequest,
): MuteRoomTrackResponse {
  const track = participant.tracks.find(({ sid }) => sid === trackSid);
  if (track === undefined) return new MuteRoomTrackResponse();
  if (track.muted !== muted) participant.version += 1;
  track.muted = muted;
  return new MuteRoomTrackResponse({ track });
}

/** Updates a participant. Empty fields change nothing; an attribute with an empty value is removed. */
function update(participant: ParticipantInfo, request: UpdateParticipantRequest): ParticipantInfo {
  if (request.name !== '') participant.name = request.name;
  if (request.metadata !== '') participant.metadata = request.metadata;
  if (request.permission !== undefined) participant.permission = request.permission;
  const attributes = Object.entries({ ...participant.attributes, ...request.attributes });
  participant.attributes = Object.fromEntries(attributes.filter(([, value]) => value !== ''));
  participant.version += 1;
  return participant;
}

/** Ends tracks that the participant may not publish any more. An empty list of sources allows all of them. */
function endForbiddenTracks(
  rooms: Rooms,
  room: string,
  { identity, permission, tracks }: ParticipantInfo,
): void {
  const { canPublish = true, canPublishSources = [] } = permission ?? {};
  const isAllowed = (source: TrackSource): boolean =>
    canPublish && (canPublishSources.length === 0 || canPublishSources.includes(source));
  for (const { sid } of tracks.filter(({ source }) => !isAllowed(source)))
    rooms.unpublish(room, identity, sid);
}

function ensureRoom(rooms: Rooms, name: string): void {
  if (rooms.find(name) === undefined) throw psrpcError('not_found', 'requested room does not exist');
}

function findParticipant(rooms: Rooms, room: string, identity: string): ParticipantInfo {
  const participant = rooms.find(room)?.participants.get(identity);
  if (participant === undefined) throw psrpcError('not_found', 'participant does not exist');
  return participant;
}

function ensureMetadataFits(metadata: string): void {
  if (Buffer.byteLength(metadata) > MAX_METADATA_BYTES) {
    throw limitFailure('metadata size exceeds limits', MAX_METADATA_BYTES);
  }
}

function limitFailure(text: string, limit: number): TwirpError {
  return new TwirpError('invalid_argument', `${text} ${limit}`, { argument: text });
}

/** Implements the reading part of livekit.AgentDispatchService; no agent is ever dispatched here. */
export function agentDispatchService(context: SimulatorContext, rooms: Rooms): TwirpService {
  return {
    ListDispatch: twirpMethod(ListAgentDispatchRequest, async ({ room }, access) => {
      ensureRoomAdmin(access, room);
      if (rooms.find(room) === undefined) {
        // The real server asks the process of the room, which does not respond.
        await context.clock.sleep(context.timings.noResponseMs, context.closing);
        throw psrpcError('unavailable', 'no response from servers');
      }
      return new ListAgentDispatchResponse();
    }),
  };
}
