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
import type { Rooms } from './rooms.ts';
import type { Faults, SimulatorContext } from './settings.ts';
import type { Streams } from './streams.ts';

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
  readonly setFaults: (faults: Partial<Faults>) => void;
  /** Resolves when every webhook was delivered or dropped. */
  readonly webhooksSettled: () => Promise<void>;
};

export type SimulatedParticipant = {
  readonly identity: string;
  readonly name?: string;
  readonly metadata?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly kind?: keyof typeof ParticipantInfo_Kind;
  readonly canPublish?: boolean;
  readonly canSubscribe?: boolean;
  readonly canPublishData?: boolean;
  readonly hidden?: boolean;
  readonly agent?: boolean;
};

export type SimulatedTrack = {
  readonly type?: 'AUDIO' | 'VIDEO';
  readonly source?: keyof typeof TrackSource;
  readonly name?: string;
};

export type ControlParts = {
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
      const { identity, name, metadata, attributes, kind } = participant;
      const joined = rooms.join(room, {
        identity,
        permission: toPermission(participant),
        ...(name !== undefined && { name }),
        ...(metadata !== undefined && { metadata }),
        ...(attributes !== undefined && { attributes }),
        ...(kind !== undefined && { kind: ParticipantInfo_Kind[kind] }),
      });
      return new ParticipantInfo(joined);
    },
    leave: (room, identity) => rooms.leave(room, identity, DisconnectReason.CLIENT_INITIATED),
    publish: (room, identity, track = {}) => rooms.publish(room, identity, toTrack(track, context)),
    unpublish: rooms.unpublish,
    beginStream: streams.begin,
    endStream: streams.end,
    killRecorder: recorders.kill,
    closeRecorderBrowser: recorders.closeBrowser,
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
