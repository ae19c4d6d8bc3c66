import type { VoicedSegment } from '../engines/speech.ts';

/** Loudness is compared in windows of so many samples: 100 ms at 16 kHz, longer than the silence within a `t`. */
const WINDOW = 1600;
/** Where the cut is looked for, as a share of what fits: a pause is worth a shorter piece. */
const EARLIEST_CUT = 0.4;

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
