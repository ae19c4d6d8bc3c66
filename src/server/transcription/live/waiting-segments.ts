import type { Log } from '../../platform/log.ts';
import type { AudioSpillFile, SpilledBuffer } from '../audio/audio-spill-file.ts';
import type { VoicedSegment } from '../engines/speech.ts';
import type { FairQueue } from './fair-queue.ts';

export type WaitingSegmentsDeps = {
  readonly log: Log;
  readonly queue: Pick<FairQueue, 'waiting'>;
  /** Holds samples that wait while recognition is slower than speech. */
  readonly spillFile: AudioSpillFile;
};

/** Further waiting segments are spilled to disk. One segment takes up to half a megabyte. */
const MAX_WAITING_IN_MEMORY = 40;

/** Holds the segments of a track that wait for recognition, in memory or on disk: no final segment is ever dropped. */
export class WaitingSegments {
  readonly #deps: WaitingSegmentsDeps;
  /** Segments on disk that have not been recognised yet. */
  readonly #spilled = new Set<Promise<SpilledBuffer>>();

  constructor(deps: WaitingSegmentsDeps) {
    this.#deps = deps;
  }

  /** Returns a function that returns the segment, which may be called once. */
  hold(segment: VoicedSegment): () => Promise<VoicedSegment> {
    if (this.#deps.queue.waiting < MAX_WAITING_IN_MEMORY) return inMemory(segment);
    const { start } = segment;
    const spilled = spillToDisk(this.#deps, segment.samples);
    this.#spilled.add(spilled);
    // The closure must not capture `segment`: that would hold its samples in memory as long as it waits.
    return async () => {
      this.#spilled.delete(spilled);
      const { read } = await spilled;
      return { start, samples: await read() };
    };
  }

  /** Drops those on disk. */
  close(): void {
    for (const spilled of this.#spilled) void spilled.then(({ discard }) => discard());
    this.#spilled.clear();
  }
}

function inMemory(segment: VoicedSegment): () => Promise<VoicedSegment> {
  return async () => segment;
}

async function spillToDisk(
  { spillFile, log }: Pick<WaitingSegmentsDeps, 'spillFile' | 'log'>,
  samples: Float32Array,
): Promise<SpilledBuffer> {
  try {
    return await spillFile.write(samples);
  } catch (error) {
    log.warn({ err: error }, 'recognition is behind, and waiting samples cannot be written to disk');
    return { read: async () => samples, discard: () => {} };
  }
}
