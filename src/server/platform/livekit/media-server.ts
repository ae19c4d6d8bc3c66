import { setImmediate } from 'node:timers/promises';
import { ignoreCode } from '../../../contract/errors.ts';
import type { Ingress } from '../../../contract/ingress.ts';
import type { Participant } from '../../../contract/participants.ts';
import type { RecordingSettings } from '../../../contract/recordings.ts';
import type { Room } from '../../../contract/rooms.ts';

/*
 * The calls of a media server, in LiveKit's terms. Records are LiveKit's objects in protobuf JSON with zero values; a Room
 * never contains `turnPassword`. Every method rejects with a ServiceError:
 *   media-server-unavailable   no connection, or no response within the timeout
 *   media-server-error         it rejected our key (its 401 and 403) or failed (its 500)
 *   media-worker-unavailable   egress or ingress without Redis or without a worker
 *   invalid-request            an argument is invalid
 * and with the not-found codes that each method names.
 */

/** A name that no room can have. Looking it up is the cheapest call that verifies our key. */
export const NO_ROOM = '\u0000ready';

export interface MediaServer {
  /**
   * Gets or creates a room: an existing room is returned unchanged, whatever the settings. Rejects with room-not-found for a
   * room that is being closed.
   */
  createRoom(settings: RoomSettings): Promise<Room>;
  /** Lists all open rooms, or only the open ones among `names`. Their numParticipants is up to five seconds old. */
  listRooms(names?: readonly string[]): Promise<readonly Room[]>;
  /** Disconnects everyone. Rejects with room-not-found. */
  deleteRoom(room: string): Promise<void>;
  /**
   * Returns whether a process of the media server holds the room. After a crash a media server with Redis continues to list the
   * rooms and participants of the dead process; createRoom then moves the room to a living process. Resolves to false after 3
   * s, also for an unknown room.
   */
  isRoomServed(room: string): Promise<boolean>;
  /** Rejects with room-not-found. */
  updateRoomMetadata(room: string, metadata: string): Promise<Room>;

  /**
   * Sends to these participants, or to everyone for an empty list; unknown ones are left out. Rejects for an unknown room
   * with media-server-unavailable, after 3 s.
   */
  sendData(room: string, message: DataMessage): Promise<void>;

  /** Lists everyone, hidden agents and recorders included. Returns an empty list for an unknown room. */
  listParticipants(room: string): Promise<readonly Participant[]>;
  /** The same list, whose records are decoded only when they are read. */
  listParticipantEntries(room: string): Promise<readonly ParticipantEntry[]>;
  /** Rejects with participant-not-found, also for an unknown room. */
  getParticipant(room: string, identity: string): Promise<Participant>;
  /**
   * Returns whether a process of the media server holds the participant, like isRoomServed. Resolves to false after 3 s, or at
   * once if the process of the room knows nobody of this identity.
   */
  isParticipantServed(room: string, identity: string): Promise<boolean>;
  /** Rejects with participant-not-found, also for an unknown room. */
  removeParticipant(room: string, identity: string): Promise<void>;
  /**
   * Rejects with participant-not-found, also for an unknown room; with media-server-unavailable after 3 s when the
   * participant leaves in the meantime.
   */
  updateParticipant(room: string, identity: string, change: ParticipantChange): Promise<Participant>;
  /**
   * Rejects with track-not-found. For an unknown participant it rejects with media-server-unavailable after 3 s, so check
   * first that the participant is in the room. A muted track stays muted.
   */
  muteTrack(room: string, identity: string, trackSid: string): Promise<void>;
  /**
   * Rejects like muteTrack, and with conflict when the media server's configuration forbids it (LiveKit's
   * room.enable_remote_unmute).
   */
  unmuteTrack(room: string, identity: string, trackSid: string): Promise<void>;

  /**
   * Rejects with room-not-found and media-worker-unavailable. Waits up to 40 s for a recorder; callers have their own
   * timeout.
   */
  startRoomComposite(request: RoomCompositeRequest): Promise<Egress>;
  /**
   * Rejects, each time after 3 s, with recording-not-found; with conflict when the egress is over; with
   * media-worker-unavailable when its recorder is gone.
   */
  stopEgress(egressId: string): Promise<Egress>;
  /**
   * Adds and removes URLs of a broadcast. Rejects like stopEgress, and with invalid-request for a URL that the recorder does
   * not accept; the others are changed all the same.
   */
  updateStream(egressId: string, change: StreamChange): Promise<Egress>;
  /**
   * Finds egresses by id or by room, including ended ones for as long as the media server remembers them; an empty list for
   * an unknown one. The list includes egresses of other kinds that another program started in the room.
   */
  listEgress(filter: EgressFilter): Promise<readonly Egress[]>;

  createIngress(request: IngressRequest): Promise<Ingress>;
  /** Finds ingresses by id or by room; an empty list for an unknown one. */
  listIngress(filter: IngressFilter): Promise<readonly Ingress[]>;
  /** Rejects with ingress-not-found. */
  deleteIngress(ingressId: string): Promise<Ingress>;

  close(): Promise<void>;
}

/** A participant in a list. */
export type ParticipantEntry = {
  readonly sid: string;
  readonly identity: string;
  /** Whether it is a recorder or a hidden agent. */
  readonly isSystem: boolean;
  readonly read: () => Participant;
};

export type RoomSettings = {
  readonly name: string;
  readonly maxParticipants?: number | undefined;
  /** Seconds for which an empty room stays open before the first join. */
  readonly emptyTimeout?: number | undefined;
  /** Seconds for which an empty room stays open after the last leave. */
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
  /** Replaces all permissions, in the form of the participant's record. */
  readonly permission: Readonly<Record<string, boolean | string[]>> | undefined;
};

export type EgressFilter =
  | { readonly egressId: string }
  | { readonly room: string; readonly active?: boolean };

/** Without members, all. */
export type IngressFilter = {
  readonly ingressId?: string;
  readonly room?: string;
};

export type StreamChange = { readonly add: readonly string[]; readonly remove: readonly string[] };

/** Outputs in place of one MP4 file. */
export type BroadcastOutput = {
  /** Either all with SRT, or none. */
  readonly urls: readonly string[];
  /** The request's filepath is the playlist; the segments are beside it. */
  readonly hls?: HlsOutput | undefined;
};

type HlsOutput = { readonly segmentSeconds: number; readonly livePlaylist: string };

export type RoomCompositeRequest = {
  readonly room: string;
  /** Key in the bucket, or path for the recorder's own file output. */
  readonly filepath: string;
  /** For a broadcast, which records no MP4 file. */
  readonly broadcast?: BroadcastOutput | undefined;
  /** Absent when the recorder writes to its own file system. */
  readonly bucket?: BucketSettings | undefined;
  /** Absent members are left to the recorder. */
  readonly settings?: RecordingSettings | undefined;
  /**
   * URL that gets the events of this egress, signed with the media server's key, even if its webhook setting is missing.
   */
  readonly webhookUrl?: string | undefined;
};

export type BucketSettings = {
  readonly bucket: string;
  readonly region: string;
  /** Without both keys the recorder finds its own. */
  readonly accessKey?: string | undefined;
  readonly secretKey?: string | undefined;
  /** Goes with temporary keys. */
  readonly sessionToken?: string | undefined;
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

/** The part of LiveKit's EgressInfo that recordings need; instants in Unix milliseconds. */
export type Egress = {
  readonly egressId: string;
  readonly room: string;
  readonly status: EgressStatus;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** Time of the first recorded frame. It is known from EGRESS_ACTIVE on, up to half a second ahead. */
  readonly mediaStartedAt: number | undefined;
  readonly error: string | undefined;
  /** The `recording` parameter of the webhook that was requested, by which a start is recognised. */
  readonly startId: string | undefined;
  /** Set when the webhook has the parameter `start` alone. Such a build takes a start that others adopt for a lost one. */
  readonly isOfOlderBuild?: boolean | undefined;
  /** The file that was written, or the playlist with the size of all segments, once the egress is over. */
  readonly file: EgressFile | undefined;
  /** The URLs of a broadcast, those that were removed included. */
  readonly streams: readonly EgressStream[];
};

export type EgressStream = {
  /** See fingerprintStreamUrl. */
  readonly fingerprint: string;
  readonly status: 'ACTIVE' | 'FINISHED' | 'FAILED';
  /** When the receiver accepted the stream. */
  readonly startedAt: number | undefined;
  readonly error: string | undefined;
  /** How often the recorder has connected again, and when it last did. */
  readonly retries: number;
  readonly lastRetryAt: number | undefined;
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

/** Returns a participant; undefined for somebody who is not in the room, or for an unknown room. */
export async function findParticipant(
  mediaServer: Pick<MediaServer, 'getParticipant'>,
  room: string,
  identity: string,
): Promise<Participant | undefined> {
  return await mediaServer.getParticipant(room, identity).catch(ignoreCode('participant-not-found'));
}

/** Between two of these groups others have their turn: a large room would keep them waiting. */
const READ_AT_ONCE = 100;

export async function readRecords(entries: readonly ParticipantEntry[]): Promise<Participant[]> {
  const participants: Participant[] = [];
  for (let start = 0; start < entries.length; start += READ_AT_ONCE) {
    if (start > 0) await setImmediate();
    participants.push(...entries.slice(start, start + READ_AT_ONCE).map((entry) => entry.read()));
  }
  return participants;
}
