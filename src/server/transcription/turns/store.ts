import type { Recording, RecordingStores } from '../../recordings/store.ts';
import type { SealedSound, SoundPlace } from './sound-box.ts';

/*
 * The turns of speech while a room was recorded. One stt-live worker at a time listens to the room of a recording, by a
 * lease: a row that exists while a worker listens. A turn is one participant's speech without a longer pause. Turns are
 * deleted with their recording.
 */

export type Turn = {
  readonly trackId: string;
  readonly identity: string;
  /** The participant's name at that time. */
  readonly name: string | null;
  /** Unix milliseconds by the clock of the database. */
  readonly startedAt: number;
  readonly endedAt: number;
};

/** A recording whose room needs a listening worker, and the worker that holds the lease. */
export type ListenedRecording = {
  readonly recordingId: string;
  readonly room: string;
  /** Lease owner; null when no worker has listened yet. */
  readonly owner: string | null;
  readonly leaseUntil: number | null;
  /** 1 when each participant's audio is kept, else 0. */
  readonly recordTracks: number;
};

export type ListeningClaim = {
  readonly recordingId: string;
  readonly owner: string;
  readonly now: number;
  readonly leaseUntil: number;
};

/** A turn as the worker detected it, with its encrypted audio when the recording keeps tracks. */
export type DetectedTurn = Turn & { readonly sound?: readonly SealedSound[] | undefined };

/** Identifies the turn of kept audio, and the key with which it was encrypted. */
export type KeptSound = Pick<Turn, 'trackId' | 'startedAt'> & { readonly keyId: string };

export type SoundPurge = {
  /** Unix milliseconds. The audio of turns that began before is deleted in any case. */
  readonly before: number;
  readonly limit: number;
};

export interface TurnStore {
  /**
   * Lists recordings, the oldest first: running ones, and those that a worker listens to, that were stopped after
   * `stoppedAfter` and have not ended.
   */
  listListened(stoppedAfter: number): Promise<readonly ListenedRecording[]>;
  /** Claims the lease if no worker holds it or if it has expired. Returns whether `owner` holds it now. */
  claimListening(claim: ListeningClaim): Promise<boolean>;
  /** Extends all leases of a worker. */
  renewListening(owner: string, leaseUntil: number): Promise<void>;
  releaseListening(recordingId: string, owner: string): Promise<void>;
  /** Returns whether a worker listens, or may have turns that are not stored yet. */
  isListening(recordingId: string, now: number): Promise<boolean>;
  /** Adds turns and skips known ones. Returns false when `owner` does not hold the lease. */
  addTurns(recordingId: string, owner: string, turns: readonly DetectedTurn[]): Promise<boolean>;
  /** Lists turns by start, then track. */
  listTurns(recordingId: string): Promise<readonly Turn[]>;
  /** Lists the turns whose audio is kept. */
  listSounds(recordingId: string): Promise<readonly KeptSound[]>;
  /** Reads the encrypted audio of a turn, with its parts in order. */
  readSound(place: SoundPlace): Promise<readonly SealedSound[]>;
  /**
   * Deletes at most `limit` parts of audio that is not needed any more: its recording was transcribed and no other
   * transcription of it is waiting, or it is older than `before`. Returns their number.
   */
  purgeSounds(purge: SoundPurge): Promise<number>;
}

export interface TurnStores extends RecordingStores {
  readonly turns: TurnStore;
}

export type TurnListenerRow = {
  readonly recordingId: Recording['id'];
  readonly owner: string;
  readonly leaseUntil: number;
};

export type TurnSoundRow = SoundPlace & SealedSound;

export type TurnRow = Turn & { readonly recordingId: Recording['id'] };
