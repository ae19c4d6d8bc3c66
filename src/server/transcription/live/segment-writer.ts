import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { StoredSegment, TranscriptionStores } from '../store.ts';

export type LiveNotesDeps = {
  readonly store: { readonly transcriptions: Pick<TranscriptionStores['transcriptions'], 'addSegments'> };
  readonly clock: Clock;
  readonly log: Log;
};

export type LiveNotesSettings = {
  readonly transcriptionId: string;
  readonly owner: string;
  /** The transcription is stopped, deleted or in another worker's hands: nothing can be added. */
  readonly onRefused: () => void;
};

const RETRY_MS = 500;

/** Stores segments in the order in which they come; while the database is away they wait here. */
export class LiveNotes {
  readonly #deps: LiveNotesDeps;
  readonly #settings: LiveNotesSettings;
  #unstored: StoredSegment[] = [];
  #storing: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: LiveNotesDeps, settings: LiveNotesSettings) {
    this.#deps = deps;
    this.#settings = settings;
  }

  add(segment: StoredSegment): void {
    if (this.#isClosed) return;
    this.#unstored.push(segment);
    this.#storing ??= this.#store();
  }

  /** Resolves when everything is stored, or has been refused. */
  async stored(): Promise<void> {
    await this.#storing;
  }

  /** What is not stored is dropped. */
  close(): void {
    this.#isClosed = true;
    this.#unstored = [];
  }

  /** Those that come meanwhile go together with the next ones. */
  async #store(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { transcriptionId, owner, onRefused } = this.#settings;
    while (this.#unstored.length > 0) {
      const segments = [...this.#unstored];
      try {
        const isStored = await store.transcriptions.addSegments(transcriptionId, owner, segments);
        this.#unstored = this.#unstored.slice(segments.length);
        if (isStored) continue;
        this.close();
        onRefused();
      } catch (error) {
        log.warn(
          { transcriptionId, waiting: segments.length, err: error },
          'storing segments failed; trying again',
        );
        await clock.sleep(RETRY_MS);
      }
    }
    // In the same turn as the last look: what comes after it must begin anew.
    this.#storing = undefined;
  }
}
