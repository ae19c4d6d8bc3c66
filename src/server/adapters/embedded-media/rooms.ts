import {
  Codec,
  type CreateRoomRequest,
  DisconnectReason,
  ParticipantInfo,
  ParticipantInfo_Kind,
  ParticipantInfo_State,
  type ParticipantPermission,
  Room,
  type TrackInfo,
} from '@livekit/protocol';
import type { EventStream } from './events.ts';
import { later } from './later.ts';
import type { World } from './settings.ts';

/*
 * The open rooms and who is in them, as the room manager of LiveKit keeps them:
 *   created        by name, or by the first join; room_started at once
 *   empty          closes emptyTimeout seconds after its creation while nobody has joined
 *   occupied       while anyone is in it who is no recorder and no agent
 *   left           closes departureTimeout seconds after the last one left
 *   closed         everyone out (participant_left), then room_finished; a room of the same name is a new one
 */
export type Rooms = {
  /** Get-or-create: an existing room is answered unchanged. */
  readonly open: (settings: RoomSettings) => Room;
  readonly find: (name: string) => LiveRoom | undefined;
  readonly list: () => readonly Room[];
  /** Makes the room when it does not exist; someone of the same identity is put out. */
  readonly join: (name: string, joiner: Joiner) => ParticipantInfo;
  /** Whether such a participant was there. */
  readonly leave: (name: string, identity: string, reason: DisconnectReason) => boolean;
  readonly publish: (name: string, identity: string, track: TrackInfo) => TrackInfo;
  readonly unpublish: (name: string, identity: string, trackSid: string) => boolean;
  readonly close: (name: string, reason: DisconnectReason) => void;
};

export type RoomSettings = Partial<
  Pick<CreateRoomRequest, 'name' | 'emptyTimeout' | 'departureTimeout' | 'maxParticipants' | 'metadata'>
>;

export type Joiner = {
  readonly identity: string;
  readonly name?: string;
  readonly metadata?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly kind?: ParticipantInfo_Kind;
  readonly permission: ParticipantPermission;
};

export type LiveRoom = {
  readonly info: Room;
  readonly participants: Map<string, ParticipantInfo>;
  wasJoined: boolean;
  /** Aborted when the room is occupied or gone. */
  closing: AbortController;
};

/** A join that LiveKit refuses while it sets up the connection. */
export class RoomFull extends Error {
  override readonly name = 'RoomFull';
}

const DEFAULT_EMPTY_TIMEOUT_SECONDS = 300;
const DEFAULT_DEPARTURE_TIMEOUT_SECONDS = 20;

/** The codecs that a LiveKit 1.13 enables by default. */
const CODECS = [
  'audio/PCMU',
  'audio/PCMA',
  'audio/opus',
  'audio/red',
  'video/VP8',
  'video/H264',
  'video/VP9',
  'video/AV1',
  'video/H265',
  'video/rtx',
];

export function createRooms(world: World, events: EventStream): Rooms {
  const live = new Map<string, LiveRoom>();

  const closeLater = (room: LiveRoom, seconds: number) => {
    room.closing.abort();
    room.closing = new AbortController();
    later(world, seconds * 1000, () => close(room, DisconnectReason.ROOM_CLOSED), room.closing.signal);
  };

  const open = (settings: RoomSettings): Room => {
    const name = settings.name ?? '';
    const existing = live.get(name);
    if (existing !== undefined) return existing.info;
    const info = newRoom(settings, world);
    const room = { info, participants: new Map(), wasJoined: false, closing: new AbortController() };
    live.set(name, room);
    events.emit({ event: 'room_started', room: info });
    closeLater(room, info.emptyTimeout);
    return info;
  };

  const remove = (room: LiveRoom, participant: ParticipantInfo, reason: DisconnectReason) => {
    for (const track of [...participant.tracks]) takeTrack(room, participant, track);
    room.participants.delete(participant.identity);
    count(room);
    participant.state = ParticipantInfo_State.DISCONNECTED;
    participant.disconnectReason = reason;
    participant.version += 1;
    events.emit({ event: 'participant_left', room: room.info, participant });
  };

  const takeTrack = (room: LiveRoom, participant: ParticipantInfo, track: TrackInfo) => {
    participant.tracks = participant.tracks.filter(({ sid }) => sid !== track.sid);
    participant.version += 1;
    events.emit({ event: 'track_unpublished', room: room.info, participant, track });
  };

  const close = (room: LiveRoom, reason: DisconnectReason) => {
    // First out of the map, so that whoever reacts to a leave finds no room that is about to go.
    live.delete(room.info.name);
    room.closing.abort();
    for (const participant of [...room.participants.values()]) remove(room, participant, reason);
    events.emit({ event: 'room_finished', room: room.info });
  };

  return {
    open,
    find: (name) => live.get(name),
    list: () => [...live.values()].map(({ info }) => info),
    join: (name, joiner) => {
      open({ name });
      const room = liveRoom(live, name);
      const previous = room.participants.get(joiner.identity);
      if (previous !== undefined) remove(room, previous, DisconnectReason.DUPLICATE_IDENTITY);
      const participant = newParticipant(joiner, world);
      if (!isDependent(participant)) {
        if (isFull(room))
          throw new RoomFull(`the room "${name}" has its ${room.info.maxParticipants} participants`);
        room.wasJoined = true;
        room.closing.abort();
      }
      room.participants.set(participant.identity, participant);
      count(room);
      events.emit({ event: 'participant_joined', room: room.info, participant });
      return participant;
    },
    leave: (name, identity, reason) => {
      const room = live.get(name);
      const participant = room?.participants.get(identity);
      if (room === undefined || participant === undefined) return false;
      remove(room, participant, reason);
      if (room.wasJoined && !isDependent(participant) && !isOccupied(room)) {
        closeLater(room, room.info.departureTimeout);
      }
      return true;
    },
    publish: (name, identity, track) => {
      const room = liveRoom(live, name);
      const participant = room.participants.get(identity);
      if (participant === undefined) throw new Error(`nobody called "${identity}" is in the room`);
      participant.tracks.push(track);
      participant.isPublisher = true;
      participant.version += 1;
      count(room);
      events.emit({ event: 'track_published', room: room.info, participant, track });
      return track;
    },
    unpublish: (name, identity, trackSid) => {
      const room = live.get(name);
      const participant = room?.participants.get(identity);
      const track = participant?.tracks.find(({ sid }) => sid === trackSid);
      if (room === undefined || participant === undefined || track === undefined) return false;
      takeTrack(room, participant, track);
      return true;
    },
    close: (name, reason) => close(liveRoom(live, name), reason),
  };
}

function liveRoom(live: ReadonlyMap<string, LiveRoom>, name: string): LiveRoom {
  const room = live.get(name);
  if (room === undefined) throw new Error(`no room "${name}" is open`);
  return room;
}

function newRoom(settings: RoomSettings, { clock, ids }: World): Room {
  const now = clock.now();
  return new Room({
    sid: `RM_${ids.next()}`,
    name: settings.name ?? '',
    emptyTimeout: settings.emptyTimeout || DEFAULT_EMPTY_TIMEOUT_SECONDS,
    departureTimeout: settings.departureTimeout || DEFAULT_DEPARTURE_TIMEOUT_SECONDS,
    maxParticipants: settings.maxParticipants ?? 0,
    metadata: settings.metadata ?? '',
    creationTime: BigInt(Math.floor(now / 1000)),
    creationTimeMs: BigInt(now),
    turnPassword: ids.next(),
    enabledCodecs: CODECS.map((mime) => new Codec({ mime })),
  });
}

function newParticipant(joiner: Joiner, { clock, ids }: World): ParticipantInfo {
  const now = clock.now();
  return new ParticipantInfo({
    sid: `PA_${ids.next()}`,
    identity: joiner.identity,
    name: joiner.name ?? '',
    metadata: joiner.metadata ?? '',
    attributes: { ...joiner.attributes },
    kind: joiner.kind ?? ParticipantInfo_Kind.STANDARD,
    permission: joiner.permission,
    state: ParticipantInfo_State.ACTIVE,
    joinedAt: BigInt(Math.floor(now / 1000)),
    joinedAtMs: BigInt(now),
    version: 2,
  });
}

/** Recorders and agents neither keep a room open nor count against its limit. */
function isDependent({ kind, permission }: ParticipantInfo): boolean {
  if (kind === ParticipantInfo_Kind.EGRESS || kind === ParticipantInfo_Kind.AGENT) return true;
  return permission?.recorder === true || permission?.agent === true;
}

function isOccupied(room: LiveRoom): boolean {
  return [...room.participants.values()].some((participant) => !isDependent(participant));
}

function isFull({ info, participants }: LiveRoom): boolean {
  const present = [...participants.values()].filter((participant) => !isDependent(participant)).length;
  return info.maxParticipants > 0 && present >= info.maxParticipants;
}

/** Hidden ones are not counted. */
function count({ info, participants }: LiveRoom): void {
  const present = [...participants.values()];
  info.numParticipants = present.filter(({ permission }) => permission?.hidden !== true).length;
  info.numPublishers = present.filter(({ isPublisher }) => isPublisher).length;
  info.activeRecording = present.some(({ permission }) => permission?.recorder === true);
}
