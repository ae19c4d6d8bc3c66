import type { WorkerKind } from '../../contract/choices.ts';
import type { RoomPrefixes } from '../../contract/keys.ts';
import type { EventStores } from '../events/store.ts';

/*
 * Transcriptions and their segments. A stt-live worker holds a live transcription by a lease while it transcribes the
 * room. A post-call one is a job like a delivery: queued, claimed with a lease, three attempts. All state is stored
 * here: when a worker dies, another one claims the row and continues under the same id, with the stored segments.
 *
 *   live   active      A worker transcribes the room while its lease is valid.
 *          stopped     By a caller, or because the room ended. Its segments no longer change.
 *          failed      Workers died while they transcribed it. Its segments stay and no longer change.
 *   post   queued      Can be claimed at dueAt.
 *          processing  A worker transcribes the recording while its lease is valid.
 *          completed | failed
 */
export interface TranscriptionStore {
  /** Inserts a live transcription, or returns the active one of the room. A partial unique index allows one per room. */
  startLive(
    transcription: NewLiveTranscription,
  ): Promise<{ readonly transcription: Transcription; readonly isNew: boolean }>;
  /** Stops a live transcription. Returns undefined when it was not active. */
  stopLive(id: string, stoppedAt: number): Promise<Transcription | undefined>;
  findActiveLive(room: string): Promise<Transcription | undefined>;
  /** Returns the active live transcription of the room, else its newest one. */
  findLatestLive(room: string): Promise<Transcription | undefined>;
  /** Ends a live transcription as failed. Returns undefined when it was not active. */
  failLive(id: string, failure: LiveFailure): Promise<Transcription | undefined>;
  /** Claims active transcriptions without a lease, the oldest first. */
  claimLive(claim: LiveClaim): Promise<readonly Transcription[]>;
  /**
   * Ends all live leases of workers that have an expired one (leaseUntil <= now), and counts the loss in `attempts`. A
   * transcription that was the only one of its worker for the second time gets MAX_LIVE_LOSSES at once: nothing else can
   * have ended both workers. Returns the number of transcriptions.
   */
  expireLive(now: number): Promise<number>;
  /** Extends the leases of all live transcriptions of a worker. */
  renewLive(owner: string, leaseUntil: number): Promise<void>;
  /** Subtracts one loss of a live transcription, because the worker that lost it is alive. */
  subtractLoss(id: string): Promise<void>;
  /** Resets `attempts` of a live transcription that its worker has survived. */
  resetLosses(id: string, owner: string): Promise<void>;
  listActiveLive(): Promise<readonly Transcription[]>;

  /** Inserts a post-call transcription, or returns the one of the same recording and language that has not failed. */
  enqueuePost(
    transcription: NewPostTranscription,
  ): Promise<{ readonly transcription: Transcription; readonly isNew: boolean }>;
  /**
   * Claims queued transcriptions that are due and processing ones whose lease has expired, ordered by dueAt. Each claim
   * counts as an attempt, so `attempts` is one higher than allowed when the worker of the last attempt died.
   */
  claimPost(claim: TranscriptionClaim): Promise<readonly Transcription[]>;
  /** Lists when the next transcription of each language can be claimed: its dueAt, or the end of its lease. */
  listPostDue(): Promise<readonly PostDue[]>;
  /** Stores the progress and extends the lease. Returns false when `owner` no longer holds it. */
  advancePost(id: string, owner: string, progress: PostProgress): Promise<boolean>;
  /**
   * Changes the state from processing to queued, completed or failed. Returns false when `owner` no longer holds the lease.
   */
  recordPostOutcome(id: string, owner: string, outcome: PostOutcome): Promise<boolean>;

  /** Extends the lease. Returns false when `owner` no longer holds it. */
  renew(id: string, owner: string, leaseUntil: number): Promise<boolean>;
  /** Releases the lease. A post-call transcription is queued again, and the attempt does not count. */
  release(id: string, owner: string): Promise<void>;
  find(id: string): Promise<Transcription | undefined>;
  /** Lists post-call transcriptions by (createdAt, id), the newest first. */
  listNewest(query: TranscriptionQuery): Promise<readonly Transcription[]>;
  /** Lists the transcriptions of a room session, live and post-call, the oldest first. */
  listOfSession(roomSid: string, limit: number): Promise<readonly Transcription[]>;
  /** Merges a change into the speaker map; null removes a name. Returns undefined when there is no such transcription. */
  updateSpeakers(
    id: string,
    change: Readonly<Record<string, string | null>>,
  ): Promise<Transcription | undefined>;
  /** Lists the ids of transcriptions that ended before `before`, the oldest end first. */
  listEnded(before: number, limit: number): Promise<readonly string[]>;
  /**
   * Deletes at most `limit` segments of a transcription that is not active, and returns their number. A long transcription
   * is deleted in such parts first.
   */
  deleteSegments(id: string, limit: number): Promise<number>;
  /** Deletes a transcription with all its segments. Returns false when there is no such transcription. */
  delete(id: string): Promise<boolean>;

  /**
   * Adds segments and skips known ids. Returns false when `owner` does not hold the lease, or when the transcription is
   * stopped.
   */
  addSegments(id: string, owner: string, segments: readonly StoredSegment[]): Promise<boolean>;
  /**
   * Replaces the interim result of each segment's track. Returns false when `owner` does not hold the lease, or when the
   * transcription is stopped. An interim result is deleted when its final segment is added, and when the transcription is
   * stopped or deleted.
   */
  putInterims(id: string, owner: string, update: InterimUpdate): Promise<boolean>;
  /** Lists interim results that were updated after `updatedAfter` (Unix milliseconds), by start. */
  listInterims(id: string, updatedAfter: number): Promise<readonly StoredSegment[]>;
  /** Deletes the segments of an earlier attempt. Returns false when `owner` does not hold the lease. */
  clearSegments(id: string, owner: string): Promise<boolean>;
  /** Lists segments by start, then id. */
  listSegments(id: string, page: SegmentPage): Promise<readonly StoredSegment[]>;
  /** Lists the segments that were stored after a position, in the order in which they were stored. */
  listStored(id: string, query: StoredQuery): Promise<StoredSegments>;
  hasStoredAfter(id: string, position: number): Promise<boolean>;
  countSegments(id: string): Promise<number>;
  /** Returns whether any segment of the transcription is of a known track. */
  hasTracks(id: string): Promise<boolean>;
  /** Lists the segment counts of each participant among the latest JUDGED_SEGMENTS, ordered by identity. */
  listQualities(id: string): Promise<readonly SpeechQuality[]>;

  /** Stores that a worker is alive until `aliveUntil`, and deletes the rows of workers that died long ago. */
  beat(beat: WorkerBeat): Promise<void>;
  retire(workerId: string): Promise<void>;
  /** Lists the workers that have aliveUntil > now. */
  listAlive(now: number): Promise<readonly SpeechWorker[]>;
}

export type { WorkerKind };

export type SpeechWorker = {
  readonly kind: WorkerKind;
  /** BCP 47 tags, as in SpeechEngine. */
  readonly languages: readonly string[];
  readonly failedModels: readonly FailedModel[];
};

/** A model that a worker cannot use for the language. */
export type FailedModel = { readonly language: string; readonly reason: string };

export type WorkerBeat = SpeechWorker & { readonly workerId: string; readonly aliveUntil: number };

export type TranscriptionClaim = {
  readonly owner: string;
  readonly now: number;
  readonly leaseUntil: number;
  readonly limit: number;
  /** Returns whether this worker supports a language. Transcriptions in other languages are left to other workers. */
  readonly supports: (language: string) => boolean;
};

export type LiveClaim = TranscriptionClaim & {
  /** Claims only transcriptions with fewer `attempts`; default MAX_LIVE_LOSSES. */
  readonly attemptsBelow?: number;
};

/**
 * A live transcription with this many losses fails. `attempts` counts the workers that died in a row while they held
 * it. After the first loss it continues like any other. After the second one a worker holds one such transcription at
 * a time, so that the third loss is certainly its own.
 */
export const MAX_LIVE_LOSSES = 3;

export type LiveFailure = {
  readonly endedAt: number;
  readonly errorCode: string;
  readonly errorMessage: string;
};

export type PostDue = { readonly language: string; readonly dueAt: number };

export type TranscriptionStatus = 'active' | 'stopped' | 'queued' | 'processing' | 'completed' | 'failed';

export type Transcription = {
  readonly id: string;
  readonly kind: 'live' | 'post';
  readonly room: string;
  /** The room session in which the transcription or its recording was started; null when it is not known. */
  readonly roomSid: string | null;
  readonly recordingId: string | null;
  readonly egressId: string | null;
  readonly status: TranscriptionStatus;
  readonly language: string;
  readonly speakers: Readonly<Record<string, string>>;
  readonly options: LiveOptions;
  readonly leaseOwner: string | null;
  readonly leaseUntil: number | null;
  readonly dueAt: number | null;
  readonly attempts: number;
  readonly progress: number;
  readonly durationMs: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly createdAt: number;
  /** Origin of the times in seconds: the start of a live transcription, or of the recording. */
  readonly originAt: number;
  /** When a worker first claimed it; null for live transcriptions. */
  readonly startedAt: number | null;
  /** When it was stopped, completed or failed; else null. */
  readonly endedAt: number | null;
};

export type LiveOptions = {
  readonly partialResults: boolean;
  readonly captions: boolean;
  readonly punctuation: boolean;
  readonly profanityFilter: boolean;
};

export type NewLiveTranscription = Pick<
  Transcription,
  'id' | 'room' | 'language' | 'speakers' | 'options' | 'createdAt'
> &
  Partial<Pick<Transcription, 'roomSid'>>;
export type NewPostTranscription = Pick<
  Transcription,
  'id' | 'room' | 'language' | 'speakers' | 'createdAt' | 'originAt'
> &
  Partial<Pick<Transcription, 'roomSid'>> & { readonly recordingId: string; readonly egressId: string };

export type PostProgress = {
  readonly progress: number;
  /** Undefined leaves it unchanged. */
  readonly durationMs?: number | undefined;
  readonly leaseUntil: number;
};

export type PostOutcome =
  | {
      readonly status: 'queued';
      readonly dueAt: number;
      readonly errorCode: string;
      readonly errorMessage: string;
    }
  | { readonly status: 'completed'; readonly endedAt: number; readonly durationMs: number }
  | {
      readonly status: 'failed';
      readonly endedAt: number;
      readonly errorCode: string;
      readonly errorMessage: string;
    };

export type TranscriptionQuery = Pick<Transcription, 'kind'> & {
  readonly room?: string | undefined;
  /** Only transcriptions of rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
  readonly egressId?: string | undefined;
  readonly status?: TranscriptionStatus | undefined;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

export type StoredSegment = {
  readonly id: string;
  readonly trackId: string | null;
  readonly identity: string | null;
  /** The participant's name at that time. Speakers are resolved when segments are read. */
  readonly name: string | null;
  readonly text: string;
  readonly language: string;
  /** Unix milliseconds; for a recording, originAt plus the time in the recording. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly confidence: number | null;
  /** Milliseconds in which others spoke at the same time; null when they are not known. */
  readonly overlapMs: number | null;
  /** Words with times, when the model returns times. */
  readonly words?: readonly StoredWord[] | undefined;
};

/** Unix milliseconds. */
export type StoredWord = Pick<StoredSegment, 'text' | 'startedAt' | 'endedAt' | 'confidence'>;

export type SegmentPage = {
  /** Only segments after this one. */
  readonly after?: Pick<StoredSegment, 'startedAt' | 'id'> | undefined;
  readonly limit: number;
};

export type StoredQuery = {
  /** Positions ascend in the order in which segments are stored; 0 is before all. */
  readonly after: number;
  /** Only segments that end strictly after it (Unix milliseconds). */
  readonly endsAfter?: number | undefined;
  readonly limit: number;
};

export type StoredSegments = {
  readonly segments: readonly StoredSegment[];
  /** Position of the last of these segments; if they are fewer than the limit, of the last one that was stored. */
  readonly position: number;
};

/** Number of final segments of a participant; of a recording, the segments of all participants together. */
export type SpeechQuality = {
  readonly identity: string | null;
  readonly segments: number;
  /** Number of segments with a confidence below DOUBTFUL_BELOW. */
  readonly doubtful: number;
};

/** The quality of a transcription is judged by so many of its segments, so that each read costs the same. */
export const JUDGED_SEGMENTS = 1_000;

/** Whisper's limit of confidence: a mean log probability of -1. */
export const DOUBTFUL_BELOW = 0.37;

export type InterimUpdate = { readonly segments: readonly StoredSegment[]; readonly updatedAt: number };

/** The stores that a transaction about transcriptions uses. */
export interface TranscriptionStores extends EventStores {
  readonly transcriptions: TranscriptionStore;
}
