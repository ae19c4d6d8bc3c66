/*
 * Names and terms that are likely to be said in a room. They are stored by the room's name, so that they outlive a session.
 */

export interface VocabularyStore {
  /** Returns an empty list when the room has none. */
  find(room: string): Promise<readonly string[]>;
  /** Replaces the terms of the room. */
  save(room: string, terms: readonly string[]): Promise<void>;
  delete(room: string): Promise<void>;
}

export interface VocabularyStores {
  readonly vocabularies: VocabularyStore;
}
