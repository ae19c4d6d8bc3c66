import type { AccessStores } from '../access/store.ts';
import type { ErasureStores } from '../erasure/store.ts';
import type { MediaEventStores } from '../media-events/stores.ts';
import type { FigureStore } from '../metrics/figures.sql.ts';
import type { StoreClock } from '../platform/clock.ts';
import type { ChangeFeed } from '../platform/storage/changes.ts';
import type { PoolState } from '../platform/storage/engine.ts';
import type { InstanceStore } from '../platform/storage/instances.ts';
import type { SessionStores } from '../sessions/store.ts';
import type { TurnStore } from '../transcription/turns/store.ts';
import type { VocabularyStore } from '../transcription/vocabulary/vocabularies.sql.ts';
import type { WordStore } from '../transcription/words/store.ts';
import type { UsageStores } from '../usage/store.ts';

/**
 * The service's database, with every capability's store: one schema and one query layer on SQLite and PostgreSQL. Instants
 * are Unix milliseconds. Every method rejects with ServiceError storage-unavailable when the database does not respond or
 * cannot be written. Implements the UnitOfWork of every capability (see there for `transaction`).
 */
export interface Store extends MediaEventStores, AccessStores, SessionStores, ErasureStores, UsageStores {
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  readonly figures: FigureStore;
  readonly instances: InstanceStore;
  readonly turns: TurnStore;
  readonly words: WordStore;
  readonly vocabularies: VocabularyStore;
  readonly changes: ChangeFeed;
  /** The clock that decides about leases and due times for all code that uses the store: see Engine. */
  readonly clock: StoreClock;
  /** The connections of this process; undefined on SQLite, which has none. */
  readonly pool: (() => PoolState) | undefined;
  /** Resolves when the database responds. */
  ping(): Promise<void>;
  /** Rejects new calls, waits for the running ones, then closes. A second call returns the first one's promise. */
  close(): Promise<void>;
}
