import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { StoredSegment, TranscriptionStores } from '../store.ts';

export type InterimWriterDeps = {
  readonly store: { readonly transcriptions: Pick<TranscriptionStores['transcriptions'], 'putInterims'> };
  readonly clock: Clock;
  readonly log: Log;
};

export type InterimWriterSettings = { readonly transcriptionId: string; readonly owner: string };

/**
 * Stores the latest interim result of each track. While one write runs, later results replace earlier ones, so that a
 * slow database gets fewer writes. A write that fails is dropped: the next result replaces it soon.
 */
export class InterimWriter {
  readonly #deps: InterimWriterDeps;
  readonly #settings: InterimWriterSettings;
  readonly #pending = new Map<string, StoredSegment>();
  #writing: Promise<void> | undefined;

  constructor(deps: InterimWriterDeps, settings: InterimWriterSettings) {
    this.#deps = deps;
    this.#settings = settings;
  }

  put(segment: StoredSegment): void {
    this.#pending.set(segment.trackId ?? '', segment);
    this.#writing ??= this.#write();
  }

  /** Drops the interim result of a track, whose segment has become final. */
  discard(trackId: string): void {
    this.#pending.delete(trackId);
  }

  /** Drops what is not stored, and resolves when the running write has ended. */
  async close(): Promise<void> {
    this.#pending.clear();
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { transcriptionId, owner } = this.#settings;
    while (this.#pending.size > 0) {
      const segments = [...this.#pending.values()];
      this.#pending.clear();
      try {
        await store.transcriptions.putInterims(transcriptionId, owner, { segments, updatedAt: clock.now() });
      } catch (error) {
        log.debug({ transcriptionId, err: error }, 'storing interim results failed');
      }
    }
    this.#writing = undefined;
  }
}
