import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { StoredSegment, TranscriptionStores } from '../store.ts';

export type SegmentWriterDeps = {
  readonly store: { readonly transcriptions: Pick<TranscriptionStores['transcriptions'], 'addSegments'> };
  readonly clock: Clock;
  readonly log: Log;
};

export type SegmentWriterSettings = {
  readonly transcriptionId: string;
  readonly owner: string;
  /** Called when the store refuses segments: the transcription was stopped, deleted or taken over. */
  readonly onRefused: () => void;
};

const RETRY_MS = 500;

/** Stores segments in the order in which they are added. While the database is unavailable they wait in memory. */
export class SegmentWriter {
  readonly #deps: SegmentWriterDeps;
  readonly #settings: SegmentWriterSettings;
  #unstored: StoredSegment[] = [];
  #storing: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: SegmentWriterDeps, settings: SegmentWriterSettings) {
    this.#deps = deps;
    this.#settings = settings;
  }

  add(segment: StoredSegment): void {
    if (this.#isClosed) return;
    this.#unstored.push(segment);
    this.#storing ??= this.#store();
  }

  /** Resolves when every segment is stored or refused. */
  async flushed(): Promise<void> {
    await this.#storing;
  }

  /** Drops segments that are not stored yet. */
  close(): void {
    this.#isClosed = true;
    this.#unstored = [];
  }

  /** Segments that are added meanwhile are stored together in the next round. */
  async #store(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { transcriptionId, owner, onRefused } = this.#settings;
    while (this.#unstored.length > 0) {
      const segments = [...this.#unstored];
      try {
        const isStored = await store.transcriptions.addSegments(transcriptionId, owner, segments);
        this.#unstored = this.#unstored.slice(segments.length);
        if (isStored) log.debug({ transcriptionId, ids: segments.map(({ id }) => id) }, 'stored segments');
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
    // This must run in the same tick as the last check of the loop, so that a later `add` starts a new round.
    this.#storing = undefined;
  }
}
