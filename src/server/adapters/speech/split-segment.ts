import type { VoicedSegment } from '../../ports/speech.ts';

/** Loudness is compared in windows of so many samples: 30 ms at 16 kHz, shorter than a syllable. */
const WINDOW = 480;
/** The cut is looked for in the last part of what fits: a piece is never much shorter than it has to be. */
const EARLIEST_CUT = 0.6;

/**
 * Cuts a segment that is longer than the recogniser takes at its quietest points. A detector's own limit is no hard
 * one, and a recogniser that is given too much answers nothing: speech would be lost without a word.
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

/** The middle of the quietest window between the two. */
function quietestPoint(samples: Float32Array, from: number, to: number): number {
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
