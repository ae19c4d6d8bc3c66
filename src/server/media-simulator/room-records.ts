import {
  Codec,
  type CreateRoomRequest,
  ParticipantInfo,
  ParticipantInfo_Kind,
  ParticipantInfo_State,
  type ParticipantPermission,
  Room,
} from '@livekit/protocol';
import { runLater } from './run-later.ts';
import type { SimulatorContext } from './settings.ts';

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

export function newLiveRoom(info: Room, now: number): LiveRoom {
  const closing = new AbortController();
  return { info, participants: new Map(), wasJoined: false, countedAt: now, isCountDue: false, closing };
}

export function newRoom(settings: RoomSettings, { clock, ids }: SimulatorContext): Room {
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

export function newParticipant(joiner: Joiner, { clock, ids }: SimulatorContext): ParticipantInfo {
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
export function isDependent({ kind, permission }: ParticipantInfo): boolean {
  if (kind === ParticipantInfo_Kind.EGRESS || kind === ParticipantInfo_Kind.AGENT) return true;
  return permission?.recorder === true || permission?.agent === true;
}

export function isOccupied(room: LiveRoom): boolean {
  return [...room.participants.values()].some((participant) => !isDependent(participant));
}

export function isFull({ info, participants }: LiveRoom): boolean {
  const present = [...participants.values()].filter((participant) => !isDependent(participant)).length;
  return info.maxParticipants > 0 && present >= info.maxParticipants;
}

export function isRecorder({ permission }: ParticipantInfo): boolean {
  return permission?.recorder === true;
}

/** The counts in LiveKit's room records, both in responses and in webhooks, are up to five seconds old. */
const COUNT_INTERVAL_MS = 5_000;

export function countLater(room: LiveRoom, context: SimulatorContext): void {
  const age = context.clock.now() - room.countedAt;
  if (age > COUNT_INTERVAL_MS) {
    count(room, context);
  } else if (!room.isCountDue) {
    room.isCountDue = true;
    runLater(context, { ms: COUNT_INTERVAL_MS - age }, () => count(room, context));
  }
}

export function count(room: LiveRoom, { clock }: SimulatorContext): void {
  const present = [...room.participants.values()];
  room.info.numParticipants = present.filter((participant) => !isDependent(participant)).length;
  room.info.numPublishers = present.filter(({ isPublisher }) => isPublisher).length;
  room.info.activeRecording = present.some(isRecorder);
  room.countedAt = clock.now();
  room.isCountDue = false;
}
