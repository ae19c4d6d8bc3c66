import type { Clock } from '../../platform/clock.ts';
import { Batcher } from '../../platform/jobs/batcher.ts';
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
  readonly #batcher: Batcher<StoredSegment>;

  constructor({ store, clock, log }: SegmentWriterDeps, settings: SegmentWriterSettings) {
    const { transcriptionId, owner, onRefused } = settings;
    this.#batcher = new Batcher({
      maxSize: Number.POSITIVE_INFINITY,
      flush: async (segments) => {
        const isStored = await store.transcriptions.addSegments(transcriptionId, owner, segments);
        if (isStored) {
          log.debug({ transcriptionId, ids: segments.map(({ id }) => id) }, 'stored segments');
          return;
        }
        this.close();
        onRefused();
      },
      beforeRetry: async (error, waiting) => {
        log.warn({ transcriptionId, waiting, err: error }, 'storing segments failed; trying again');
        await clock.sleep(RETRY_MS);
      },
    });
  }

  add(segment: StoredSegment): void {
    void this.#batcher.add(segment);
  }

  /** Resolves when every segment is stored or refused. */
  async flushed(): Promise<void> {
    await this.#batcher.close();
  }

  /** Drops segments that are not stored yet. */
  close(): void {
    this.#batcher.abandon();
  }
}
