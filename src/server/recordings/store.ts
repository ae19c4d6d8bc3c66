import type { EventStores } from '../events/store.ts';

/*
 * A recording is one row for its whole life:
 *   starting   one instance holds the room's claim and is asking the media server for an egress (egressId null)
 *   recording  the egress runs
 *   stopped    stopped by a caller, by the media server or because the room ended; the file is complete when
 *              `file` is there
 *   aborted    ended before any media came: no file
 *   failed     the recorder failed, never came or was lost; `error` says why
 * `starting` and `recording` are the active states: the database keeps at most one active row per room (a partial
 * unique index), which is the lock across instances. A `starting` row whose claim ran out may be taken over.
 */
export const RECORDING_STATUSES = ['starting', 'recording', 'stopped', 'aborted', 'failed'] as const;
export type RecordingState = (typeof RECORDING_STATUSES)[number];

export type Recording = {
  /** Our own id, there before the egress is. */
  readonly id: string;
  readonly room: string;
  /** The room's session in which it was started; null where that is not known. */
  readonly roomSid: string | null;
  readonly egressId: string | null;
  readonly status: RecordingState;
  /** Key in the bucket, or path of the recorder's file output. */
  readonly filepath: string;
  readonly bucket: string | null;
  /** The instance that may continue a `starting` row, and until when; null in every other state. */
  readonly claimOwner: string | null;
  readonly claimUntil: number | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  /** The first recorded frame. */
  readonly mediaStartedAt: number | null;
  readonly stoppedAt: number | null;
  readonly endedAt: number | null;
  readonly sizeBytes: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  /** 1 where the speech of each participant is kept for the transcript, else 0. */
  readonly recordTracks: number;
};

export interface RecordingStore {
  /**
   * Claims the room for a new recording: inserts `recording` as `starting` where no row of the room is active. A row with the
   * id of `recording` is taken over when it is `starting` and its claim ran out: claimUntil <= now (new owner, new claim, new
   * createdAt, roomSid, filepath and bucket). Atomic across instances.
   */
  claim(recording: NewRecording, now: number): Promise<RecordingClaim>;
  /**
   * Writes the change and resolves to the new row; undefined, and nothing is written, when the row is no longer as
   * `recording` shows it. Called by applyObservation alone.
   */
  update(recording: Recording, change: RecordingChange): Promise<Recording | undefined>;
  /** Deletes a `starting` row; false when it is no longer as `recording` shows it. */
  release(recording: Recording): Promise<boolean>;
  find(id: string): Promise<Recording | undefined>;
  findActive(room: string): Promise<Recording | undefined>;
  findByEgressId(egressId: string): Promise<Recording | undefined>;
  /** Newest first, by (createdAt, id); `after` is the last row of the page before. */
  list(query: RecordingQuery): Promise<readonly Recording[]>;
  /** The recordings of a room's session, oldest first. */
  listOfSession(roomSid: string): Promise<readonly Recording[]>;
  /** Those that ended before `before`, the oldest end first. */
  listEnded(query: EndedQuery): Promise<readonly Recording[]>;
  /** Whether a recording is active, or was created after `since`. */
  isAnyActiveSince(since: number): Promise<boolean>;
  /** An ended row -> gone; whether it was. An active row stays, it is the room's lock. */
  delete(id: string): Promise<boolean>;
}

export type NewRecording = {
  readonly id: string;
  readonly room: string;
  readonly roomSid?: string | null;
  readonly filepath: string;
  readonly bucket: string | null;
  readonly owner: string;
  readonly claimUntil: number;
  readonly recordTracks?: number;
};

export type RecordingClaim =
  | { readonly claimed: true; readonly recording: Recording }
  /** `recording` is the active row of the room. */
  | { readonly claimed: false; readonly recording: Recording };

/** The columns that change after a recording was started; `claim` sets the others. */
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
  >
>;

export type RecordingQuery = {
  readonly room?: string | undefined;
  readonly status?: RecordingState | undefined;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

export type EndedQuery = {
  readonly before: number;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: Pick<Recording, 'id' | 'endedAt'> | undefined;
};

/** The stores that a transaction about recordings works on. */
export interface RecordingStores extends EventStores {
  readonly recordings: RecordingStore;
}
