import type { RoomPrefixes } from '../../../contract/keys.ts';
import type { TermQuery } from '../../platform/storage/search/term-query.ts';
import type { StoredSegment, Transcription, TranscriptionStores } from '../store.ts';

/*
 * Words across transcriptions: search, and the deletion of one participant's speech. The database maintains the index of
 * words itself: the deletion of a segment updates it in the same transaction.
 */

export type WordQuery = {
  /** Words to find, as plain text. A segment must have every one of them. */
  readonly text: string;
  readonly room?: string | undefined;
  /** Only segments of rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
  readonly egressId?: string | undefined;
  /** BCP 47; `en` finds `en-US` too. */
  readonly language?: string | undefined;
  /** Unix milliseconds: only segments that began then or later. */
  readonly since?: number | undefined;
  /** Unix milliseconds: only segments that began before. */
  readonly until?: number | undefined;
};

/** A search as the database runs it. Its keys are numbers that ascend in the order in which segments are stored. */
export type WordSearch = {
  readonly query: WordQuery;
  /** The condition on the terms of the index. */
  readonly terms: TermQuery;
  /** Only segments of these transcriptions; undefined for all. */
  readonly transcriptionIds: readonly string[] | undefined;
  /** No segment with a lower key can match. */
  readonly first: number;
  /** All keys that can match are lower than this one. */
  readonly end: number;
};

export type KeyRange = {
  readonly first: number;
  /** One more than the last key of the range. */
  readonly end: number;
  readonly limit: number;
};

export type FoundSegment = StoredSegment & { readonly transcriptionId: string; readonly searchKey: number };

export type WordHit = {
  readonly segment: StoredSegment;
  readonly transcription: Transcription;
  /** Whether any segment of the transcription is of a known track. */
  readonly hasTracks: boolean;
  /** The text of the segment in pieces. The second, the fourth and so on are matches. */
  readonly pieces: readonly string[];
};

export interface WordStore {
  /** Prepares a search. Returns undefined when no segment can match. */
  prepareSearch(query: WordQuery): Promise<WordSearch | undefined>;
  /** Finds the segments of a range of keys that have the words, the latest stored first. */
  findWithin(search: WordSearch, range: KeyRange): Promise<readonly FoundSegment[]>;
  /** Adds what a response tells of the segments. Leaves out those whose transcription has been deleted since. */
  describeHits(search: WordSearch, found: readonly FoundSegment[]): Promise<readonly WordHit[]>;
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
