import type { Ingress } from '../../../contract/ingress.ts';
import type { Participant } from '../../../contract/participants.ts';
import type { RecordingSettings } from '../../../contract/recordings.ts';
import type { Room } from '../../../contract/rooms.ts';

/*
 * The calls of a media server, in LiveKit's terms. Records are LiveKit's objects in protobuf JSON with zero values; a Room
 * never contains `turnPassword`. Every method rejects with a ServiceError:
 *   media-server-unavailable   no connection, or no response within the timeout
 *   media-server-error         it refused our key (its 401 and 403) or failed (its 500)
 *   media-worker-unavailable   egress or ingress without Redis or without a worker
 *   invalid-request            an argument is invalid
 * and with the not-found codes that each method names.
 */
/** A name that no room can have. Looking it up is the cheapest call that verifies our key. */
export const NO_ROOM = '\u0000ready';

export interface MediaServer {
  /** Get-or-create: an existing room is returned unchanged, whatever the settings. */
  createRoom(settings: RoomSettings): Promise<Room>;
  /** All open rooms, or those of `names` that exist. Their numParticipants is up to five seconds old. */
  listRooms(names?: readonly string[]): Promise<readonly Room[]>;
  /** room-not-found. Disconnects everyone. */
  deleteRoom(room: string): Promise<void>;
  /**
   * Whether a process of the media server holds the room. After a crash a media server with Redis goes on listing the
   * rooms and participants of the process that died; createRoom then moves the room to a living process. False after
   * 3 s, also for an unknown room.
   */
  isRoomServed(room: string): Promise<boolean>;
  /** room-not-found. */
  updateRoomMetadata(room: string, metadata: string): Promise<Room>;

  /**
   * Sends to these participants, or to everyone for none; unknown ones are left out. For an unknown room
   * media-server-unavailable, after 3 s.
   */
  sendData(room: string, message: DataMessage): Promise<void>;

  /** Everyone, hidden agents and recorders included; empty for an unknown room. */
  listParticipants(room: string): Promise<readonly Participant[]>;
  /** participant-not-found, also for an unknown room. */
  getParticipant(room: string, identity: string): Promise<Participant>;
  /** Whether a process of the media server holds the participant, as isRoomServed. False after 3 s. */
  isParticipantServed(room: string, identity: string): Promise<boolean>;
  /** participant-not-found, also for an unknown room. */
  removeParticipant(room: string, identity: string): Promise<void>;
  /** participant-not-found, also for an unknown room; media-server-unavailable after 3 s when it leaves meanwhile. */
  updateParticipant(room: string, identity: string, change: ParticipantChange): Promise<Participant>;
  /**
   * track-not-found. For an unknown participant media-server-unavailable, after 3 s: check that it is there first. A
   * muted track stays muted.
   */
  muteTrack(room: string, identity: string, trackSid: string): Promise<void>;
  /** As muteTrack; conflict where its configuration does not allow that (LiveKit's room.enable_remote_unmute). */
  unmuteTrack(room: string, identity: string, trackSid: string): Promise<void>;

  /** room-not-found; media-worker-unavailable. Waits up to 40 s for a recorder: callers have their own timeout. */
  startRoomComposite(request: RoomCompositeRequest): Promise<Egress>;
  /**
   * recording-not-found; conflict when the egress is over; media-worker-unavailable when its recorder is gone. Each of
   * them after 3 s.
   */
  stopEgress(egressId: string): Promise<Egress>;
  /**
   * Finds by id or by room, ended ones included for as long as the media server remembers them; empty for an unknown
   * one. Egresses of other kinds that someone else started in the room are among them.
   */
  listEgress(filter: EgressFilter): Promise<readonly Egress[]>;

  createIngress(request: IngressRequest): Promise<Ingress>;
  listIngress(room: string): Promise<readonly Ingress[]>;
  /** ingress-not-found. */
  deleteIngress(ingressId: string): Promise<Ingress>;

  close(): Promise<void>;
}

export type RoomSettings = {
  readonly name: string;
  readonly maxParticipants?: number | undefined;
  /** Seconds before the first join. */
  readonly emptyTimeout?: number | undefined;
  /** Seconds after the last leave. */
  readonly departureTimeout?: number | undefined;
  readonly metadata?: string | undefined;
};

export type DataMessage = {
  readonly data: Uint8Array;
  readonly kind: 'reliable' | 'lossy';
  readonly topic: string | undefined;
  readonly identities: readonly string[];
};

/** Undefined fields stay as they are; LiveKit cannot empty a name or metadata. */
export type ParticipantChange = {
  readonly name: string | undefined;
  readonly metadata: string | undefined;
  /** Merged into the attributes; an empty text removes one. */
  readonly attributes: Readonly<Record<string, string>> | undefined;
  /** Replaces all permissions; as the participant's record has them. */
  readonly permission: Readonly<Record<string, boolean | string[]>> | undefined;
};

export type EgressFilter =
  | { readonly egressId: string }
  | { readonly room: string; readonly active?: boolean };

export type RoomCompositeRequest = {
  readonly room: string;
  /** Key in the bucket, or path for the recorder's own file output. */
  readonly filepath: string;
  /** Absent: the recorder writes to its own file system. */
  readonly bucket?: BucketSettings | undefined;
  /** Absent members leave it to the recorder. */
  readonly settings?: RecordingSettings | undefined;
  /** Gets the events of this egress, signed with the media server's key, also where its webhook setting is missing. */
  readonly webhookUrl?: string | undefined;
};

export type BucketSettings = {
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly endpoint: string | undefined;
  readonly forcePathStyle: boolean;
};

export type EgressStatus =
  | 'EGRESS_STARTING'
  | 'EGRESS_ACTIVE'
  | 'EGRESS_ENDING'
  | 'EGRESS_COMPLETE'
  | 'EGRESS_FAILED'
  | 'EGRESS_ABORTED'
  | 'EGRESS_LIMIT_REACHED';

/** LiveKit's EgressInfo, as far as recordings need it; instants in Unix milliseconds. */
export type Egress = {
  readonly egressId: string;
  readonly room: string;
  readonly status: EgressStatus;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** The first recorded frame; known from EGRESS_ACTIVE on, up to half a second ahead. */
  readonly mediaStartedAt: number | undefined;
  readonly error: string | undefined;
  /** The path that was requested: roomComposite.fileOutputs[0].filepath of EgressInfo's request. */
  readonly requestedFilepath: string | undefined;
  /** The file that was written, once the egress is over. */
  readonly file: EgressFile | undefined;
};

export type EgressFile = {
  readonly filename: string;
  readonly location: string;
  readonly sizeBytes: number;
  readonly durationMs: number;
};

export type IngressRequest = {
  readonly type: 'rtmp' | 'whip';
  readonly room: string;
  readonly participantIdentity: string;
  readonly participantName: string;
};
