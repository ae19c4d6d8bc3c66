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
import { runLater, type SimulatorContext } from './settings.ts';
import type { RoomConfig } from './twirp.ts';
import type { EventStream } from './webhooks.ts';

/*
 * The open rooms and their participants, with the lifecycle of LiveKit's room manager:
 *   created    By name or by the first join; emits room_started at once.
 *   empty      Nobody has joined: closes emptyTimeout seconds after its creation.
 *   occupied   Somebody other than recorders and agents is in the room.
 *   left       Closes departureTimeout seconds after the last participant left.
 *   closed     Removes everyone (participant_left), then emits room_finished. A room of the same name is a new one.
 */

/** LiveKit rejects such a join while it sets up the connection. */
export class RoomFullError extends Error {
  override readonly name = 'RoomFullError';
}

export class Rooms {
  readonly #context: SimulatorContext;
  readonly #events: EventStream;
  readonly #live = new Map<string, LiveRoom>();

  constructor(context: SimulatorContext, events: EventStream) {
    this.#context = context;
    this.#events = events;
  }

  /** Creates a room, or returns the existing one unchanged. */
  open(settings: RoomSettings): Room {
    const name = settings.name ?? '';
    const existing = this.#live.get(name);
    if (existing !== undefined) return existing.info;
    const info = newRoom(settings, this.#context);
    const room = newLiveRoom(info, this.#context.clock.now());
    this.#live.set(name, room);
    this.#events.emit({ event: 'room_started', room: info });
    this.#closeLater(room, info.emptyTimeout);
    return info;
  }

  find(name: string): LiveRoom | undefined {
    return this.#live.get(name);
  }

  list(): readonly Room[] {
    return [...this.#live.values()].map(({ info }) => info);
  }

  /** Joins a participant, and creates the room if needed. Another participant of the same identity is removed. */
  join(name: string, joiner: Joiner): ParticipantInfo {
    this.open({ ...joiner.roomConfig, name });
    const room = liveRoom(this.#live, name);
    const previous = room.participants.get(joiner.identity);
    if (previous !== undefined) this.#remove(room, previous, DisconnectReason.DUPLICATE_IDENTITY);
    const participant = newParticipant(joiner, this.#context);
    if (!isDependent(participant)) {
      if (isFull(room))
        throw new RoomFullError(`the room "${name}" has its ${room.info.maxParticipants} participants`);
      room.wasJoined = true;
      room.closing.abort();
    }
    room.participants.set(participant.identity, participant);
    if (isRecorder(participant)) count(room, this.#context);
    else countLater(room, this.#context);
    this.#events.emit({ event: 'participant_joined', room: room.info, participant });
    return participant;
  }

  /** Returns false when there was no such participant. */
  leave(name: string, identity: string, reason: DisconnectReason): boolean {
    const room = this.#live.get(name);
    const participant = room?.participants.get(identity);
    if (room === undefined || participant === undefined) return false;
    this.#remove(room, participant, reason);
    if (room.wasJoined && !isDependent(participant) && !isOccupied(room)) {
      this.#closeLater(room, room.info.departureTimeout);
    }
    return true;
  }

  publish(name: string, identity: string, track: TrackInfo): TrackInfo {
    const room = liveRoom(this.#live, name);
    const participant = room.participants.get(identity);
    if (participant === undefined) throw new Error(`nobody called "${identity}" is in the room`);
    participant.tracks.push(track);
    participant.isPublisher = true;
    participant.version += 1;
    countLater(room, this.#context);
    this.#events.emit({ event: 'track_published', room: room.info, participant, track });
    return track;
  }

  unpublish(name: string, identity: string, trackSid: string): boolean {
    const room = this.#live.get(name);
    const participant = room?.participants.get(identity);
    const track = participant?.tracks.find(({ sid }) => sid === trackSid);
    if (room === undefined || participant === undefined || track === undefined) return false;
    this.#takeTrack(room, participant, track);
    return true;
  }

  setMetadata(name: string, metadata: string): Room {
    const room = liveRoom(this.#live, name);
    room.info.metadata = metadata;
    count(room, this.#context);
    return room.info;
  }

  close(name: string, reason: DisconnectReason): void {
    this.#close(liveRoom(this.#live, name), reason);
  }

  #closeLater(room: LiveRoom, seconds: number): void {
    room.closing.abort();
    room.closing = new AbortController();
    runLater(this.#context, { ms: seconds * 1000, signal: room.closing.signal }, () =>
      this.#close(room, DisconnectReason.ROOM_CLOSED),
    );
  }

  #close(room: LiveRoom, reason: DisconnectReason): void {
    // Removes the room from the map first, so that listeners of participant_left do not find a room that is closing.
    this.#live.delete(room.info.name);
    room.closing.abort();
    for (const participant of [...room.participants.values()]) this.#remove(room, participant, reason);
    this.#events.emit({ event: 'room_finished', room: room.info });
  }

  #remove(room: LiveRoom, participant: ParticipantInfo, reason: DisconnectReason): void {
    for (const track of [...participant.tracks]) this.#takeTrack(room, participant, track);
    room.participants.delete(participant.identity);
    participant.state = ParticipantInfo_State.DISCONNECTED;
    participant.disconnectReason = reason;
    participant.version += 1;
    this.#events.emit({ event: 'participant_left', room: room.info, participant });
    if (isRecorder(participant)) count(room, this.#context);
    else countLater(room, this.#context);
  }

  #takeTrack(room: LiveRoom, participant: ParticipantInfo, track: TrackInfo): void {
    participant.tracks = participant.tracks.filter(({ sid }) => sid !== track.sid);
    participant.version += 1;
    this.#events.emit({ event: 'track_unpublished', room: room.info, participant, track });
  }
}

function liveRoom(live: ReadonlyMap<string, LiveRoom>, name: string): LiveRoom {
  const room = live.get(name);
  if (room === undefined) throw new Error(`no room "${name}" is open`);
  return room;
}

type RoomSettings = Partial<
  Pick<CreateRoomRequest, 'name' | 'emptyTimeout' | 'departureTimeout' | 'maxParticipants' | 'metadata'>
>;

type Joiner = {
  readonly identity: string;
  readonly name?: string | undefined;
  readonly metadata?: string | undefined;
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  readonly kind?: ParticipantInfo_Kind | undefined;
  readonly permission: ParticipantPermission;
  /** Settings of the room if this join opens it. */
  readonly roomConfig?: RoomConfig | undefined;
};

type LiveRoom = {
  readonly info: Room;
  readonly participants: Map<string, ParticipantInfo>;
  wasJoined: boolean;
  /** When the counts of the record were last updated, in Unix milliseconds. */
  countedAt: number;
  isCountDue: boolean;
  /** Cancels the closing of the empty room when somebody joins or the room is closed. */
  closing: AbortController;
};

const DEFAULT_EMPTY_TIMEOUT_SECONDS = 300;
const DEFAULT_DEPARTURE_TIMEOUT_SECONDS = 20;

/** The codecs that LiveKit 1.13 enables by default. */
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

function newLiveRoom(info: Room, now: number): LiveRoom {
  const closing = new AbortController();
  return { info, participants: new Map(), wasJoined: false, countedAt: now, isCountDue: false, closing };
}

function newRoom(settings: RoomSettings, { clock, ids }: SimulatorContext): Room {
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

function newParticipant(joiner: Joiner, { clock, ids }: SimulatorContext): ParticipantInfo {
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

/** Recorders and agents neither keep a room open nor count towards its limit. */
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

function isRecorder({ permission }: ParticipantInfo): boolean {
  return permission?.recorder === true;
}

/** The counts in LiveKit's room records, both in responses and in webhooks, are up to five seconds old. */
const COUNT_INTERVAL_MS = 5_000;

function countLater(room: LiveRoom, context: SimulatorContext): void {
  const age = context.clock.now() - room.countedAt;
  if (age > COUNT_INTERVAL_MS) {
    count(room, context);
  } else if (!room.isCountDue) {
    room.isCountDue = true;
    runLater(context, { ms: COUNT_INTERVAL_MS - age }, () => count(room, context));
  }
}

function count(room: LiveRoom, { clock }: SimulatorContext): void {
  const present = [...room.participants.values()];
  room.info.numParticipants = present.filter((participant) => !isDependent(participant)).length;
  room.info.numPublishers = present.filter(({ isPublisher }) => isPublisher).length;
  room.info.activeRecording = present.some(isRecorder);
  room.countedAt = clock.now();
  room.isCountDue = false;
}
