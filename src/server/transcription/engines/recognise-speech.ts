import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { recognisePatiently } from './recognise-with-retry.ts';
import { SAMPLE_RATE, type SpeechEngine, type VoicedSegment } from './speech.ts';

export type RecogniseDeps = {
  readonly engine: SpeechEngine;
  readonly clock: Clock;
  readonly log: Log;
};

export type Spoken = VoicedSegment & { readonly text: string; readonly confidence: number | null };

export type RecogniseRequest = {
  readonly segment: VoicedSegment;
  readonly language: string;
  readonly transcriptionId: string;
  readonly trackId: string;
};

/** A cough or a slammed door has no words; what is voiced for longer than this has. */
const WORDLESS_SAMPLES = SAMPLE_RATE;
/** A speech server that is restarted is back within this; what is said meanwhile waits its turn. */
const PATIENCE = { pausesMs: [500, 2_000, 8_000], longestMs: 10_000 } as const;

/**
 * The words of a voiced segment, of a call that goes on: what cannot be recognised is told in the log, without its
 * content, and does not hold up what comes after. No text for speech is a fault, as recognisers answer nothing where
 * they fail inside: in two halves it may do.
 */
export async function recogniseSpeech(
  deps: RecogniseDeps,
  request: RecogniseRequest,
): Promise<readonly Spoken[]> {
  const { segment } = request;
  try {
    const whole = await recogniseOnce(deps, request, segment);
    if (whole !== undefined) return [whole];
    return await recogniseHalves(deps, request);
  } catch (error) {
    deps.log.error(
      { ...toFields(request, segment), err: error },
      'speech was heard, but could not be recognised',
    );
    return [];
  }
}

async function recogniseHalves(deps: RecogniseDeps, request: RecogniseRequest): Promise<readonly Spoken[]> {
  const { segment } = request;
  if (segment.samples.length < WORDLESS_SAMPLES) {
    deps.log.debug(toFields(request, segment), 'a sound without words');
    return [];
  }
  const spoken: Spoken[] = [];
  for (const half of halvesOf(segment)) {
    const words = await recogniseOnce(deps, request, half);
    if (words !== undefined) spoken.push(words);
    else deps.log.warn(toFields(request, half), 'speech was heard, but the recogniser gave no text for it');
  }
  return spoken;
}

/** Undefined where the recogniser has no text for it, or fails on it; throws when it is away. */
async function recogniseOnce(
  deps: RecogniseDeps,
  request: RecogniseRequest,
  segment: VoicedSegment,
): Promise<Spoken | undefined> {
  const { language } = request;
  const onFailure = (error: unknown): void =>
    deps.log.warn({ ...toFields(request, segment), err: error }, 'the recogniser failed');
  try {
    const asked = { samples: segment.samples, language };
    const { text, confidence } = await recognisePatiently(deps, asked, { ...PATIENCE, onFailure });
    return text.trim() === '' ? undefined : { ...segment, text: text.trim(), confidence };
  } catch (error) {
    if (error instanceof ServiceError && error.retryable) throw error;
    return undefined;
  }
}

/** Cut where it is quietest near the middle, so that no word is in both. */
export function halvesOf({ start, samples }: VoicedSegment): readonly VoicedSegment[] {
  const cut = quietestNearMiddle(samples);
  return [
    { start, samples: samples.subarray(0, cut) },
    { start: start + cut, samples: samples.subarray(cut) },
  ];
}

const WINDOW = SAMPLE_RATE * 0.03;

function quietestNearMiddle(samples: Float32Array): number {
  let quietest = samples.length >> 1;
  let least = Number.POSITIVE_INFINITY;
  const end = Math.floor(samples.length * 0.65);
  for (let start = Math.floor(samples.length * 0.35); start + WINDOW <= end; start += WINDOW / 2) {
    let energy = 0;
    for (let index = start; index < start + WINDOW; index += 1) energy += (samples[index] ?? 0) ** 2;
    if (energy >= least) continue;
    least = energy;
    quietest = start + WINDOW / 2;
  }
  return quietest;
}

function toFields({ transcriptionId, trackId }: RecogniseRequest, { samples }: VoicedSegment) {
  return { transcriptionId, trackId, durationMs: Math.round((samples.length / SAMPLE_RATE) * 1000) };
}
