import type { RoomPrefixes } from '../../contract/keys.ts';
import type { EventStores } from '../events/store.ts';

/*
 * A recording is one row for its whole life. A broadcast, which sends the picture of a room to other servers or writes it as
 * HLS, is such a row too, of another kind: it is started, watched and ended in the same way.
 *
 *   starting   one instance holds the room's claim and is asking the media server for an egress (egressId null)
 *   recording  the egress runs
 *   stopped    stopped by a caller, by the media server or because the room ended; the file is complete when
 *              `file` is there
 *   aborted    ended before any media came: no file
 *   failed     the recorder failed, never came or was lost; `error` says why
 *
 * `starting` and `recording` are the active states: the database keeps at most one active row per room and kind (a partial
 * unique index), which is the lock across instances. A `starting` row whose claim ran out may be taken over.
 */
export const RECORDING_STATUSES = ['starting', 'recording', 'stopped', 'aborted', 'failed'] as const;
export type RecordingState = (typeof RECORDING_STATUSES)[number];

export const RECORDING_KINDS = ['recording', 'broadcast'] as const;
export type RecordingKind = (typeof RECORDING_KINDS)[number];

export type Recording = {
  /** Our own id, which exists before the egress. */
  readonly id: string;
  readonly kind: RecordingKind;
  readonly room: string;
  /** The room session in which the recording was started; null when it is not known. */
  readonly roomSid: string | null;
  readonly egressId: string | null;
  readonly status: RecordingState;
  /** Key in the bucket, or path of the recorder's file output; of a broadcast: of its playlist, empty without HLS. */
  readonly filepath: string;
  readonly bucket: string | null;
  /** The instance that may continue a `starting` row, and until when; null in every other state. */
  readonly claimOwner: string | null;
  readonly claimUntil: number | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  /** Time of the first recorded frame. */
  readonly mediaStartedAt: number | null;
  readonly stoppedAt: number | null;
  readonly endedAt: number | null;
  readonly sizeBytes: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  /** 1 when the speech of each participant is kept for the transcript, else 0. */
  readonly recordTracks: number;
  /** The outputs of a broadcast, as JSON text (broadcast-outputs.ts); null for a recording. */
  readonly outputs: string | null;
};

export interface RecordingStore {
  /**
   * Claims the room for a new recording: inserts `recording` as `starting` if no row of its kind is active there. A row with the
   * id of `recording` is taken over when it is `starting` and its claim has expired: claimUntil <= now (new owner, claim,
   * createdAt, roomSid, filepath and bucket). Atomic across instances.
   */
  claim(recording: NewRecording, now: number): Promise<RecordingClaim>;
  /**
   * Writes the change and returns the new row. Returns undefined and writes nothing when the row differs from `recording`.
   * Called only by applyObservation.
   */
  update(recording: Recording, change: RecordingChange): Promise<Recording | undefined>;
  /** Deletes a `starting` row. Returns false when it differs from `recording`. */
  release(recording: Recording): Promise<boolean>;
  find(id: string): Promise<Recording | undefined>;
  findActive(room: string, kind: RecordingKind): Promise<Recording | undefined>;
  /** Lists what is active in these rooms. */
  listActive(rooms: readonly string[]): Promise<readonly Recording[]>;
  /** Returns the newest row, whatever its state. */
  findNewest(room: string, kind: RecordingKind): Promise<Recording | undefined>;
  findByEgressId(egressId: string): Promise<Recording | undefined>;
  /**
   * Lists rows by (createdAt, id), the newest first, of both kinds unless one is asked for. `after` is the last row of the
   * previous page.
   */
  list(query: RecordingQuery): Promise<readonly Recording[]>;
  /** Lists the recordings of a room session, without broadcasts, the oldest first. */
  listOfSession(roomSid: string, limit: number): Promise<readonly Recording[]>;
  /** Lists rows of both kinds that ended before `before`, the oldest end first. */
  listEnded(query: EndedQuery): Promise<readonly Recording[]>;
  /** Lists the rooms that are broadcast, of `rooms` or of all. */
  listBroadcasting(rooms?: readonly string[]): Promise<readonly BroadcastRoom[]>;
  /** Returns whether a recording is active, or was created after `since`. */
  isAnyActiveSince(since: number): Promise<boolean>;
  /** Deletes an ended row and returns whether it existed. An active row stays, because it is the room's lock. */
  delete(id: string): Promise<boolean>;
}

export type NewRecording = {
  readonly id: string;
  readonly kind?: RecordingKind;
  readonly room: string;
  readonly roomSid?: string | null;
  readonly filepath: string;
  readonly bucket: string | null;
  readonly owner: string;
  readonly claimUntil: number;
  readonly recordTracks?: number;
  readonly outputs?: string | null;
};

/** `recording` is the new one, or, if the room could not be claimed, the one that is active there. */
export type RecordingClaim = { readonly claimed: boolean; readonly recording: Recording };

/** The columns that change after a recording was started. `claim` sets the others. */
export type RecordingChange = Partial<
  Pick<
    Recording,
    | 'status'
    | 'egressId'
    | 'claimOwner'
    | 'claimUntil'
    | 'startedAt'
    | 'mediaStartedAt'
    | 'stoppedAt'
    | 'endedAt'
    | 'sizeBytes'
    | 'durationMs'
    | 'error'
    | 'outputs'
  >
>;

/** `recordingId` is null when the room is not recorded. */
export type BroadcastRoom = { readonly room: string; readonly recordingId: string | null };

export type RecordingQuery = {
  readonly kind?: RecordingKind | undefined;
  readonly room?: string | undefined;
  /** Only recordings of rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
  readonly status?: RecordingState | undefined;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

export type EndedQuery = {
  readonly before: number;
  readonly limit: number;
  /** The last recording of the previous page. */
  readonly after?: Pick<Recording, 'id' | 'endedAt'> | undefined;
};

/** The stores that a transaction about recordings uses. */
export interface RecordingStores extends EventStores {
  readonly recordings: RecordingStore;
}
