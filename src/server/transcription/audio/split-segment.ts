import type { VoicedSegment } from '../engines/speech.ts';

/** Window for comparing loudness: 100 ms at 16 kHz, longer than the silence inside a `t`. */
const WINDOW = 1600;
/** Earliest cut, as a share of the maximum length. A cut at a pause is better than a longer piece. */
const EARLIEST_CUT = 0.4;

/**
 * Cuts a segment that is too long for the recogniser at its quietest points. The detector's own limit is not a hard
 * one, and a recogniser returns an empty text for input that is too long, so the speech would be lost silently.
 */
export function splitSegment(segment: VoicedSegment, maxSamples: number): readonly VoicedSegment[] {
  const pieces: VoicedSegment[] = [];
  let { start, samples } = segment;
  while (samples.length > maxSamples) {
    const cut = quietestPoint(samples, Math.floor(maxSamples * EARLIEST_CUT), maxSamples);
    pieces.push({ start, samples: samples.subarray(0, cut) });
    start += cut;
    samples = samples.subarray(cut);
  }
  return [...pieces, { start, samples }];
}

/** Returns the middle of the quietest tenth of a second between `from` and `to`; `to` when they are nearer. */
export function quietestPoint(samples: Float32Array, from: number, to: number): number {
  let quietest = to;
  let least = Number.POSITIVE_INFINITY;
  for (let start = from; start + WINDOW <= to; start += WINDOW / 2) {
    let energy = 0;
    for (let index = start; index < start + WINDOW; index += 1) energy += (samples[index] ?? 0) ** 2;
    if (energy < least) {
      least = energy;
      quietest = start + WINDOW / 2;
    }
  }
  return quietest;
}
