import type { StoredSegment, Transcription, TranscriptionStores } from '../store.ts';

/*
 * Words across transcriptions: search, and the deletion of one participant's speech. The database maintains the index of
 * words itself: the deletion of a segment updates it in the same transaction.
 */

export type WordQuery = {
  /** Words to find, as plain text. A segment must have every one of them. */
  readonly text: string;
  readonly room?: string | undefined;
  readonly egressId?: string | undefined;
  /** BCP 47; `en` finds `en-US` too. */
  readonly language?: string | undefined;
  /** Unix milliseconds: only segments that began then or later. */
  readonly since?: number | undefined;
  /** Unix milliseconds: only segments that began before. */
  readonly until?: number | undefined;
  readonly limit: number;
  /** `nextBefore` of the previous page. */
  readonly before?: number | undefined;
};

export type WordHits = {
  /** The segments that were found, the latest stored first. */
  readonly hits: readonly WordHit[];
  /** Position of the next page; null after the last page. */
  readonly nextBefore: number | null;
};

export type WordHit = {
  readonly segment: StoredSegment;
  readonly transcription: Transcription;
  /** Whether any segment of the transcription is of a known track. */
  readonly hasTracks: boolean;
  /** The text of the segment in pieces. The second, the fourth and so on are matches. */
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
  /** Deletes at most `limit` turns of a participant in recordings, with their audio. Returns their number. */
  forgetTurns(speaker: Speaker, limit: number): Promise<number>;
  /** Counts what still has, or will have, the participant's speech. */
  countRemains(speaker: Speaker): Promise<SpeechRemains>;
}

export type Speaker = {
  readonly identity: string;
  /** Undefined for all rooms. */
  readonly room: string | undefined;
};

export type SpeechRemains = {
  /** Number of transcriptions that have not ended, whoever speaks in them. */
  readonly running: number;
  /** Number of recordings with turns of the participant. */
  readonly recordings: number;
};

export interface WordStores extends TranscriptionStores {
  readonly words: WordStore;
}
