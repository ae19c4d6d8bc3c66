/* Names and terms that are likely to be said in a room. Rooms go by their names, so that they outlast a session. */

export interface VocabularyStore {
  /** Empty when the room has none. */
  find(room: string): Promise<readonly string[]>;
  /** Replaces those of the room. */
  save(room: string, terms: readonly string[]): Promise<void>;
  delete(room: string): Promise<void>;
}

export interface VocabularyStores {
  readonly vocabularies: VocabularyStore;
}
