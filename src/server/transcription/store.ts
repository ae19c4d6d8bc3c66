import type { WorkerKind } from '../../contract/choices.ts';
import type { EventStores } from '../events/store.ts';

/*
 * Transcriptions and their segments. A live one is a row that a stt-live worker holds by a lease for as long as it
 * listens; a post-call one is a job like a delivery: queued, claimed with a lease, three tries. State lives here
 * alone: a worker that dies is replaced by whoever claims the row next, under the same id, with the segments that
 * it has stored.
 *
 *   live   active      wanted; a worker listens while its lease holds
 *          stopped     by a caller, or because the room ended: from then on its segments are what they are
 *   post   queued      to be claimed at dueAt
 *          processing  a worker has it in hand while its lease holds
 *          completed | failed
 */
export interface TranscriptionStore {
  /** Inserts, or answers the active one of the room: at most one per room (a partial unique index). */
  startLive(
    transcription: NewLiveTranscription,
  ): Promise<{ readonly transcription: Transcription; readonly isNew: boolean }>;
  /** active -> stopped; undefined when it was not active. */
  stopLive(id: string, stoppedAt: number): Promise<Transcription | undefined>;
  findActiveLive(room: string): Promise<Transcription | undefined>;
  /** The active one, else the newest of the room. */
  findLatestLive(room: string): Promise<Transcription | undefined>;
  /** Active ones without a lease, or with one that ran out (leaseUntil <= now), oldest first. */
  claimLive(claim: TranscriptionClaim): Promise<readonly Transcription[]>;
  listActiveLive(): Promise<readonly Transcription[]>;

  /** Inserts, or answers the one of the same recording and language that has not failed. */
  enqueuePost(
    transcription: NewPostTranscription,
  ): Promise<{ readonly transcription: Transcription; readonly isNew: boolean }>;
  /**
   * Due queued ones, and processing ones whose lease ran out, by dueAt; attempts counts up with each claim, so that
   * it may come with one more than are allowed: after a worker that was lost at the last one.
   */
  claimPost(claim: TranscriptionClaim): Promise<readonly Transcription[]>;
  /** How far the audio has been transcribed; only while `owner` holds the lease, which it prolongs. Whether it did. */
  advancePost(id: string, owner: string, progress: PostProgress): Promise<boolean>;
  /** processing -> queued | completed | failed, only while `owner` holds the lease; whether it did. */
  settlePost(id: string, owner: string, outcome: PostOutcome): Promise<boolean>;

  /** Prolongs the lease of one transcription; whether `owner` still held it. */
  renew(id: string, owner: string, leaseUntil: number): Promise<boolean>;
  /** Gives the lease up in good order: a post-call one is queued again, and the try does not count. */
  release(id: string, owner: string): Promise<void>;
  find(id: string): Promise<Transcription | undefined>;
  /** Post-call ones, newest first by (createdAt, id). */
  listPost(query: TranscriptionQuery): Promise<readonly Transcription[]>;
  /** Merges into the speaker map; null removes. Undefined when there is no such transcription. */
  updateSpeakers(
    id: string,
    change: Readonly<Record<string, string | null>>,
  ): Promise<Transcription | undefined>;
  /** With all its segments; whether it was there. */
  delete(id: string): Promise<boolean>;

  /** Only while `owner` holds the transcription's lease and it is not stopped; a known id is passed over. Whether it did. */
  addSegments(id: string, owner: string, segments: readonly StoredSegment[]): Promise<boolean>;
  /** Drops what a worker that lost its lease had stored of a post-call try. */
  clearSegments(id: string, owner: string): Promise<boolean>;
  /** By start, then id; those that end strictly after `endsAfter` (Unix milliseconds). */
  listSegments(id: string, endsAfter?: number): Promise<readonly StoredSegment[]>;
  countSegments(id: string): Promise<number>;

  /** The worker is alive until `aliveUntil`. Rows of workers that have long been dead go with it. */
  beat(beat: WorkerBeat): Promise<void>;
  retire(workerId: string): Promise<void>;
  /** Alive: aliveUntil > now. */
  isAlive(kind: WorkerKind, now: number): Promise<boolean>;
  /** Languages that the living workers of a kind can do, as they said with their beats; sorted, each once. */
  languages(kind: WorkerKind, now: number): Promise<readonly string[]>;
}

export type { WorkerKind };

export type WorkerBeat = {
  readonly kind: WorkerKind;
  readonly workerId: string;
  /** As of SpeechEngine: BCP 47 tags, or primary languages that stand for all of their regions. */
  readonly languages: readonly string[];
  readonly aliveUntil: number;
};

export type TranscriptionClaim = {
  readonly owner: string;
  readonly now: number;
  readonly leaseUntil: number;
  readonly limit: number;
  /** Whether this worker can do a language: what it cannot is left to others. */
  readonly supports: (language: string) => boolean;
};

export type TranscriptionStatus = 'active' | 'stopped' | 'queued' | 'processing' | 'completed' | 'failed';

export type Transcription = {
  readonly id: string;
  readonly kind: 'live' | 'post';
  readonly room: string;
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
  /** The instant from which seconds are counted: a live one's start, or its recording's. */
  readonly originAt: number;
  /** Of a post-call one: when a worker first took it up. */
  readonly startedAt: number | null;
  /** When it was stopped, completed or failed. */
  readonly endedAt: number | null;
};

export type LiveOptions = {
  readonly partialResults: boolean;
  readonly punctuation: boolean;
  readonly profanityFilter: boolean;
};

export type NewLiveTranscription = Pick<
  Transcription,
  'id' | 'room' | 'language' | 'speakers' | 'options' | 'createdAt'
>;
export type NewPostTranscription = Pick<
  Transcription,
  'id' | 'room' | 'language' | 'speakers' | 'createdAt' | 'originAt'
> & { readonly recordingId: string; readonly egressId: string };

export type PostProgress = {
  readonly progress: number;
  /** Undefined leaves it as it is. */
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

export type TranscriptionQuery = {
  readonly room?: string | undefined;
  readonly egressId?: string | undefined;
  readonly status?: TranscriptionStatus | undefined;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

export type StoredSegment = {
  readonly id: string;
  readonly trackId: string | null;
  readonly identity: string | null;
  /** The participant's name when it was said; speakers are resolved when read. */
  readonly name: string | null;
  readonly text: string;
  readonly language: string;
  /** Unix milliseconds; for a recording, counted on from its originAt. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly confidence: number | null;
};

/** The stores that a transaction about transcriptions works on. */
export interface TranscriptionStores extends EventStores {
  readonly transcriptions: TranscriptionStore;
}
