import { BinaryReader } from '@bufbuild/protobuf';
import {
  ListParticipantsResponse,
  ParticipantInfo_Kind,
  type StreamInfo,
  StreamInfo_Status,
} from '@livekit/protocol';
import {
  type EgressInfo,
  EgressStatus as EgressStatusNumber,
  type IngressInfo,
  ParticipantInfo,
  ParticipantPermission,
  type Room as RoomMessage,
} from 'livekit-server-sdk';
import type { Ingress } from '../../../contract/ingress.ts';
import type { Participant } from '../../../contract/participants.ts';
import type { Room } from '../../../contract/rooms.ts';
import type {
  Egress,
  EgressFile,
  EgressStatus,
  EgressStream,
  ParticipantChange,
  ParticipantEntry,
} from './media-server.ts';
import { fingerprintStreamUrl, maskStreamUrls } from './stream-urls.ts';

const WITH_ZEROS = { emitDefaultValues: true } as const;

/**
 * Protobuf JSON with zero values, without the room's TURN password. Written by hand, because `toJson` takes about 5 µs per
 * room; a test compares the two.
 */
export function toRoom(message: RoomMessage): Room {
  const room = {
    sid: message.sid,
    name: message.name,
    emptyTimeout: message.emptyTimeout,
    departureTimeout: message.departureTimeout,
    maxParticipants: message.maxParticipants,
    creationTime: String(message.creationTime),
    creationTimeMs: String(message.creationTimeMs),
    metadata: message.metadata,
    numParticipants: message.numParticipants,
    numPublishers: message.numPublishers,
    activeRecording: message.activeRecording,
    // LiveKit does not tell a broadcast from a recording.
    activeBroadcast: false,
    enabledCodecs: message.enabledCodecs.map(({ mime, fmtpLine }) => ({ mime, fmtpLine })),
    ...(message.version !== undefined && { version: message.version.toJson(WITH_ZEROS) }),
  };
  return room;
}

export function toParticipant(message: ParticipantInfo): Participant {
  return message.toJson(WITH_ZEROS) as Participant;
}

/** Converts the permission in the JSON of a participant's record. */
export function toPermission(
  permission: NonNullable<ParticipantChange['permission']>,
): ParticipantPermission {
  return ParticipantPermission.fromJson(permission, { ignoreUnknownFields: true });
}

export function toIngress(message: IngressInfo): Ingress {
  return message.toJson(WITH_ZEROS) as Ingress;
}

export function toEgress(info: EgressInfo): Egress {
  return {
    egressId: info.egressId,
    room: info.roomName,
    status: EgressStatusNumber[info.status] as EgressStatus,
    startedAt: toMilliseconds(info.startedAt),
    endedAt: toMilliseconds(info.endedAt),
    mediaStartedAt: toMediaStart(info),
    error: toEndError(info),
    ...toStart(info),
    file: toFile(info) ?? toPlaylist(info),
    streams: info.streamResults.map(toStream),
  };
}

/** Ends that the recorder decides itself; one that lacks processors has no error, and its file ends early. */
const ENDS_BY_ITSELF = /^End reason: (CPU exhausted|Process killed|Failure)$/;

function toEndError({ error, errorCode, details }: EgressInfo): string | undefined {
  const [, reason = ''] = ENDS_BY_ITSELF.exec(details) ?? [];
  if (error === '') return toError(reason === '' && errorCode !== 0 ? `error ${errorCode}` : reason);
  return toError(reason === 'Failure' || error.includes(reason) ? error : `${error}: ${reason}`);
}

/** The recorder's errors may name URLs with their keys. */
function toError(error: string): string | undefined {
  return error === '' ? undefined : maskStreamUrls(error);
}

function toStart(info: EgressInfo): Pick<Egress, 'startId' | 'isOfOlderBuild'> {
  const webhooks = info.request.case === 'roomComposite' ? info.request.value.webhooks : [];
  const url = webhooks.find((webhook) => URL.canParse(webhook.url))?.url;
  if (url === undefined) return { startId: undefined };
  const { searchParams } = new URL(url);
  const startId = searchParams.get('recording') ?? searchParams.get('start') ?? undefined;
  return {
    startId,
    ...(startId !== undefined && !searchParams.has('recording') && { isOfOlderBuild: true }),
  };
}

function toStream({ url, status, startedAt, error, retries, lastRetryAt }: StreamInfo): EgressStream {
  return {
    fingerprint: fingerprintStreamUrl(url),
    status: StreamInfo_Status[status] as EgressStream['status'],
    startedAt: toMilliseconds(startedAt),
    error: toError(error),
    retries,
    lastRetryAt: toMilliseconds(lastRetryAt),
  };
}

function toPlaylist(info: EgressInfo): EgressFile | undefined {
  const [playlist] = info.segmentResults;
  if (playlist === undefined || playlist.playlistLocation === '') return undefined;
  return {
    filename: playlist.playlistName,
    location: playlist.playlistLocation,
    sizeBytes: Number(playlist.size),
    durationMs: Number(playlist.duration) / NANOSECONDS_PER_MS,
  };
}

/** Time from EGRESS_ACTIVE, when the recorder's pipeline begins to play, to its first frame; measured on livekit/egress. */
const FIRST_FRAME_MS = 500;

function toMediaStart(info: EgressInfo): number | undefined {
  const playingAt = toMilliseconds(findFileInfo(info)?.startedAt ?? 0n);
  return playingAt === undefined ? undefined : playingAt + FIRST_FRAME_MS;
}

function findFileInfo(info: EgressInfo) {
  return info.fileResults[0] ?? (info.result.case === 'file' ? info.result.value : undefined);
}

type MessageOfFile = NonNullable<ReturnType<typeof findFileInfo>>;

/** A file that has not been uploaded has a name, but no location. */
function toFile(info: EgressInfo): EgressFile | undefined {
  const file = findFileInfo(info);
  if (file === undefined || file.location === '') return undefined;
  return {
    filename: file.filename,
    location: file.location,
    sizeBytes: Number(file.size),
    durationMs: Number(readDuration(info, file)) / NANOSECONDS_PER_MS,
  };
}

/**
 * The recorder sets `duration` to ended_at - started_at of the file, by its own clock. From livekit/egress 1.13 on it
 * computes the end of a recorded page from the pipeline's running time, which leads into the future. The duration is limited
 * to the end of the egress, because no file is longer.
 */
function readDuration({ endedAt }: EgressInfo, { startedAt, duration }: MessageOfFile): bigint {
  if (endedAt === 0n || startedAt === 0n || startedAt > endedAt) return duration;
  const longest = endedAt - startedAt;
  return duration < longest ? duration : longest;
}

const NANOSECONDS_PER_MS = 1_000_000;

/** LiveKit's egress uses nanoseconds since 1970, and 0 for never. */
function toMilliseconds(nanoseconds: bigint): number | undefined {
  return nanoseconds === 0n ? undefined : Number(nanoseconds / BigInt(NANOSECONDS_PER_MS));
}

/*
 * Reads lists of participants. Decoding a participant with its tracks and codecs takes some 40 µs, and a page or a count needs
 * few of them. Therefore an entry has only what every list is sorted and filtered by, read from its bytes, and decodes the
 * record when it is asked for it.
 */

/* Numbers of fields in livekit_models.proto and livekit_room.proto. */
const PARTICIPANTS = 1;

const SID = 1;

const IDENTITY = 2;

const PERMISSION = 11;

const KIND = 14;

const HIDDEN = 7;

/** Texts keep a byte order mark. */
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** Returns the entries of a ListParticipantsResponse in protobuf. */
export function readEntries(response: Uint8Array): readonly ParticipantEntry[] {
  const reader = new BinaryReader(response, DECODER);
  const entries: ParticipantEntry[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const bytes = field === PARTICIPANTS ? reader.bytes() : reader.skip(type);
    if (field === PARTICIPANTS && bytes.length > 0) entries.push(toEntry(bytes));
  }
  return entries;
}

/** Returns the entries of records that are decoded already. */
export function entriesFrom(participants: readonly ParticipantInfo[]): readonly ParticipantEntry[] {
  return participants.map((message) => ({
    sid: message.sid,
    identity: message.identity,
    isSystem: message.kind === ParticipantInfo_Kind.EGRESS || message.permission?.hidden === true,
    read: () => toParticipant(message),
  }));
}

/** Decodes a list in JSON, which a proxy may have made of it. */
export function entriesFromJson(text: string): readonly ParticipantEntry[] {
  return entriesFrom(
    ListParticipantsResponse.fromJsonString(text, { ignoreUnknownFields: true }).participants,
  );
}

function toEntry(bytes: Uint8Array): ParticipantEntry {
  const reader = new BinaryReader(bytes, DECODER);
  let [sid, identity, isSystem] = ['', '', false];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === SID) sid = reader.string();
    else if (field === IDENTITY) identity = reader.string();
    else if (field === KIND) isSystem = reader.int32() === ParticipantInfo_Kind.EGRESS || isSystem;
    else if (field === PERMISSION) isSystem = isHidden(reader.bytes()) || isSystem;
    else reader.skip(type);
  }
  return { sid, identity, isSystem, read: () => toParticipant(ParticipantInfo.fromBinary(bytes)) };
}

function isHidden(permission: Uint8Array): boolean {
  const reader = new BinaryReader(permission, DECODER);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field !== HIDDEN) reader.skip(type);
    else if (reader.bool()) return true;
  }
  return false;
}
