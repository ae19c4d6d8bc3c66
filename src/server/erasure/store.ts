/*
 * Erases what is stored about a person beside the person's words: identity, name and metadata. Rows stay, and so do counts
 * and durations: within one session of a room an identity is replaced by one pseudonym, which is made of the media server's
 * random id of the first connection and therefore tells nothing, is the same after a restart, and differs between sessions.
 *
 * Each step reads a bounded part and says where the next one continues. A step that is repeated changes nothing.
 */
export interface ErasureStore {
  /** Erases the person in events, and responses of receivers to them, which may repeat the event. */
  eraseEvents(person: Person, after: number): Promise<ErasureStep<number>>;
  /** Erases the person's names in maps of speakers. Needs the connections and segments, which are erased later. */
  eraseSpeakers(person: Person, after: string): Promise<ErasureStep<string>>;
  /** Erases the person in the ids of audit entries. */
  eraseAuditIds(person: Person, after: AuditPlace): Promise<ErasureStep<AuditPlace>>;
  /** Returns rooms in which the person is blocked at `now`, at most `limit`. */
  listBlockedIn(person: Person, now: number, limit: number): Promise<readonly string[]>;
  /** Returns when the last block of the person ended whose row is not deleted yet. */
  findLastBlockEnd(person: Person): Promise<number | undefined>;
  /** Erases the person in sessions, with the names of tracks. Leaves out sessions in which the person is now. */
  eraseConnections(
    person: Person,
    after: string,
  ): Promise<ErasureStep<string> & { readonly present: number }>;
  /** Makes the database forget what it has sampled from the columns for its plans. */
  refreshStatistics(): Promise<void>;
}

export type Person = {
  readonly identity: string;
  /** Undefined for all rooms. */
  readonly room: string | undefined;
};

export type AuditPlace = { readonly occurredAt: number; readonly id: string };

export type ErasureStep<Place> = {
  /** Number of rows, or names, that were changed. */
  readonly erased: number;
  /** Undefined after the last step. */
  readonly next: Place | undefined;
};

export interface ErasureStores {
  readonly erasure: ErasureStore;
}
