import type { Message } from '@bufbuild/protobuf';
import {
  DisconnectReason,
  ParticipantInfo,
  ParticipantInfo_Kind,
  ParticipantPermission,
  TrackInfo,
  TrackSource,
  TrackType,
} from '@livekit/protocol';
import type { Recorders } from './recorders.ts';
import { RoomFullError, type Rooms } from './rooms.ts';
import type { Faults, SimulatorContext } from './settings.ts';
import type { Streams } from './streams.ts';
import { type Access, ANONYMOUS, type RoomConfig } from './twirp.ts';

/** Simulates participants, broadcasters and failures, for tests and for /embedded in development. */
export type EmbeddedControl = {
  /** Joins a participant without media, and creates the room if needed. Throws RoomFullError when the room is full. */
  readonly join: (room: string, participant: SimulatedParticipant) => ParticipantInfo;
  /** Returns false when there is no such participant. */
  readonly leave: (room: string, identity: string) => boolean;
  /** Publishes a track without media. */
  readonly publish: (room: string, identity: string, track?: SimulatedTrack) => TrackInfo;
  readonly unpublish: (room: string, identity: string, trackSid: string) => boolean;
  /** Connects a broadcaster to the ingress. */
  readonly beginStream: (ingressId: string) => void;
  /** Disconnects the broadcaster. */
  readonly endStream: (ingressId: string) => void;
  /** Ends the recorder's process. */
  readonly killRecorder: (egressId: string) => void;
  /** Ends the recorder's browser, while its process continues. */
  readonly closeRecorderBrowser: (egressId: string) => void;
  /** The receivers of a broadcast at this host close the stream. */
  readonly failStream: (egressId: string, host: string) => void;
  /**
   * They close it, and the recorder connects again: it succeeds, or (`stuck`) it sends nothing to anybody any more, as LiveKit's
   * does if a receiver stays closed.
   */
  readonly reconnectStream: (egressId: string, host: string, outcome: 'connected' | 'stuck') => void;
  readonly setFaults: (faults: Partial<Faults>) => void;
  /** Resolves when every webhook was delivered or dropped. */
  readonly webhooksSettled: () => Promise<void>;
};

type SimulatedParticipant = {
  readonly identity: string;
  readonly name?: string | undefined;
  readonly metadata?: string | undefined;
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  readonly kind?: keyof typeof ParticipantInfo_Kind | undefined;
  readonly canPublish?: boolean | undefined;
  readonly canSubscribe?: boolean | undefined;
  readonly canPublishData?: boolean | undefined;
  readonly hidden?: boolean | undefined;
  readonly agent?: boolean | undefined;
  /** Settings of the room if this join opens it. */
  readonly roomConfig?: RoomConfig | undefined;
};

type SimulatedTrack = {
  readonly type?: 'AUDIO' | 'VIDEO';
  readonly source?: keyof typeof TrackSource;
  readonly name?: string;
};

type ControlParts = {
  readonly rooms: Rooms;
  readonly recorders: Recorders;
  readonly streams: Streams;
  readonly setFaults: (faults: Partial<Faults>) => void;
  readonly webhooksSettled: () => Promise<void>;
};

export function createControl(context: SimulatorContext, parts: ControlParts): EmbeddedControl {
  const { rooms, recorders, streams } = parts;
  return {
    join: (room, participant) => {
      const kind = participant.kind && ParticipantInfo_Kind[participant.kind];
      return new ParticipantInfo(
        rooms.join(room, { ...participant, kind, permission: toPermission(participant) }),
      );
    },
    leave: (room, identity) => rooms.leave(room, identity, DisconnectReason.CLIENT_INITIATED),
    publish: (room, identity, track = {}) => rooms.publish(room, identity, toTrack(track, context)),
    unpublish: (room, identity, trackSid) => rooms.unpublish(room, identity, trackSid),
    beginStream: streams.begin,
    endStream: streams.end,
    killRecorder: (egressId) => recorders.kill(egressId),
    closeRecorderBrowser: (egressId) => recorders.closeBrowser(egressId),
    failStream: (egressId, host) => recorders.failStream(egressId, host),
    reconnectStream: (egressId, host, outcome) => recorders.reconnectStream(egressId, host, outcome),
    setFaults: parts.setFaults,
    webhooksSettled: parts.webhooksSettled,
  };
}

/** A permission that the token does not mention is granted, as in LiveKit. */
function toPermission(participant: SimulatedParticipant): ParticipantPermission {
  return new ParticipantPermission({
    canPublish: participant.canPublish ?? true,
    canSubscribe: participant.canSubscribe ?? true,
    canPublishData: participant.canPublishData ?? true,
    hidden: participant.hidden ?? false,
    agent: participant.agent ?? false,
  });
}

function toTrack({ type = 'AUDIO', source, name }: SimulatedTrack, { ids }: SimulatorContext): TrackInfo {
  const isAudio = type === 'AUDIO';
  return new TrackInfo({
    sid: `TR_${ids.next()}`,
    type: TrackType[type],
    source: TrackSource[source ?? (isAudio ? 'MICROPHONE' : 'CAMERA')],
    name: name ?? (isAudio ? 'microphone' : 'camera'),
    mimeType: isAudio ? 'audio/opus' : 'video/VP8',
    stream: 'camera',
  });
}

/*
 * POST /embedded/join, /embedded/publish and /embedded/leave do what a client would do over its WebSocket. The caller
 * needs a LiveKit access token that grants joining a room; room, identity, name, metadata, attributes, permissions
 * and settings of a new room come from the token. Responses are JSON: the participant, the track, or {left}; errors are {error}.
 */
type ControlResponse = { readonly status: number; readonly body: string };

type ControlRequest = {
  readonly action: string;
  readonly access: Access;
  readonly body: Buffer;
};

export function controlResponse(control: EmbeddedControl, request: ControlRequest): ControlResponse {
  const { access, action } = request;
  const room = access.video.room ?? '';
  if (access === ANONYMOUS || access.video.roomJoin !== true || room === '') {
    return errorResponse(401, 'the request needs a LiveKit access token that grants joining a room');
  }
  if (action === 'join') return join(control, room, access);
  if (action === 'leave') return okResponse({ left: control.leave(room, access.identity) });
  if (action === 'publish') return publish(control, room, request);
  return errorResponse(404, 'there are /embedded/join, /embedded/publish and /embedded/leave');
}

function join(control: EmbeddedControl, room: string, access: Access): ControlResponse {
  const { identity, name, metadata, attributes, video, roomConfig } = access;
  if (identity === '') return errorResponse(400, 'the token names no identity');
  const { canPublish, canSubscribe, canPublishData, hidden, agent } = video;
  const granted = { canPublish, canSubscribe, canPublishData, hidden, agent, roomConfig };
  try {
    return okResponse(record(control.join(room, { identity, name, metadata, attributes, ...granted })));
  } catch (error) {
    if (error instanceof RoomFullError) return errorResponse(409, error.message);
    throw error;
  }
}

function publish(control: EmbeddedControl, room: string, { access, body }: ControlRequest): ControlResponse {
  if (access.video.canPublish === false) return errorResponse(403, 'the token does not grant publishing');
  const track = readTrack(body);
  if (track === undefined) {
    return errorResponse(
      400,
      'the body is {"type": "AUDIO" | "VIDEO", "source": …, "name": …}, each of them optional',
    );
  }
  try {
    return okResponse(record(control.publish(room, access.identity, track)));
  } catch {
    return errorResponse(409, 'join first');
  }
}

function readTrack(body: Buffer): SimulatedTrack | undefined {
  let value: unknown;
  try {
    value = body.length === 0 ? {} : JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
  return isTrack(value) ? value : undefined;
}

function isTrack(value: unknown): value is SimulatedTrack {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { type, source, name, ...rest } = value as Record<string, unknown>;
  return (
    Object.keys(rest).length === 0 &&
    (type === undefined || isEnumName(TrackType, type)) &&
    (source === undefined || isEnumName(TrackSource, source)) &&
    (name === undefined || typeof name === 'string')
  );
}

/** Nobody can publish DATA: it is a type of LiveKit's tracks that has no source. */
function isEnumName(names: object, value: unknown): boolean {
  return (
    typeof value === 'string' && /^[A-Z_]+$/.test(value) && Object.hasOwn(names, value) && value !== 'DATA'
  );
}

function record<T extends Message<T>>(message: T): object {
  return message.toJson({ emitDefaultValues: true }) as object;
}

function okResponse(body: object): ControlResponse {
  return { status: 200, body: JSON.stringify(body) };
}

function errorResponse(status: number, error: string): ControlResponse {
  return { status, body: JSON.stringify({ error }) };
}
