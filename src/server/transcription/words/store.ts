import type { StoredSegment, Transcription, TranscriptionStores } from '../store.ts';

/*
 * Words across transcriptions: search, and the deletion of what one participant said. The database keeps the index of
 * words itself: a segment that is deleted leaves it in the same transaction.
 */

export type WordQuery = {
  /** What to find, as plain text: a segment must have every word of it. */
  readonly text: string;
  readonly room?: string | undefined;
  readonly egressId?: string | undefined;
  /** BCP 47; `en` finds `en-US` too. */
  readonly language?: string | undefined;
  /** Unix milliseconds: only what was begun to be said then or later. */
  readonly since?: number | undefined;
  /** Unix milliseconds: only what was begun to be said before. */
  readonly until?: number | undefined;
  readonly limit: number;
  /** `nextBefore` of the page before. */
  readonly before?: number | undefined;
};

export type WordHits = {
  /** Those that were stored last come first. */
  readonly hits: readonly WordHit[];
  /** For the next page; null after the last one. */
  readonly nextBefore: number | null;
};

export type WordHit = {
  readonly segment: StoredSegment;
  readonly transcription: Transcription;
  /** Whether any segment of the transcription is of a known track. */
  readonly hasTracks: boolean;
  /** The text of the segment in pieces, every second of which, from the second on, was searched for. */
  readonly pieces: readonly string[];
};

export interface WordStore {
  /** Finds the segments that have the words. */
  search(query: WordQuery): Promise<WordHits>;
  /**
   * Deletes at most `limit` segments of a participant, and all of its interim results. Returns the id of the
   * transcription of each segment that was deleted.
   */
  forget(speaker: Speaker, limit: number): Promise<readonly string[]>;
  /**
   * Deletes at most `limit` turns of a participant, who spoke when in recordings, with their sound. Returns how many it
   * deleted.
   */
  forgetTurns(speaker: Speaker, limit: number): Promise<number>;
  /** What is left that has, or will have, the participant's speech. */
  countRemains(speaker: Speaker): Promise<SpeechRemains>;
}

export type Speaker = {
  readonly identity: string;
  /** Undefined for every room. */
  readonly room: string | undefined;
};

export type SpeechRemains = {
  /** Transcriptions that have not ended, of whoever speaks. */
  readonly running: number;
  /** Recordings in which a worker heard the participant. */
  readonly recordings: number;
};

export interface WordStores extends TranscriptionStores {
  readonly words: WordStore;
}
