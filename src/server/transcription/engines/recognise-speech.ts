import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { VocabularyStores } from '../vocabulary/vocabularies.sql.ts';
import { recogniseWithRetry } from './recognise-with-retry.ts';
import { type Recognition, SAMPLE_RATE, type SpeechEngine, type VoicedSegment } from './speech.ts';

type RecogniseDeps = {
  readonly engine: SpeechEngine;
  readonly clock: Clock;
  readonly log: Log;
};

export type RecognisedSegment = VoicedSegment & Recognition;

type RecogniseRequest = {
  readonly segment: VoicedSegment;
  readonly language: string;
  readonly transcriptionId: string;
  readonly trackId: string;
  /** Whether the segment is recognised again in halves when it has no text. */
  readonly isTriedInHalves: boolean;
};

/** Shorter sounds, such as a cough or a slammed door, may have no words; longer speech has. */
const MIN_SPEECH_SAMPLES = SAMPLE_RATE;

/** The pauses together are longer than a restart of the speech server. Segments that arrive in the meantime wait. */
const RETRY = { pausesMs: [500, 2_000, 8_000], maxPauseMs: 10_000 } as const;

/**
 * Recognises a segment of a running call. A segment that cannot be recognised is logged without its content, and does
 * not delay the segments after it. Recognisers return an empty text when they fail inside, so an empty text for
 * speech counts as a failure, and the segment is tried again in two halves.
 */
export async function recogniseSpeech(
  deps: RecogniseDeps,
  request: RecogniseRequest,
): Promise<readonly RecognisedSegment[]> {
  const { segment } = request;
  try {
    const whole = await recogniseOnce(deps, request, segment);
    if (whole !== undefined) return [whole];
    return await recogniseHalves(deps, request);
  } catch (error) {
    deps.log.error({ ...toFields(request, segment), err: error }, 'recognising speech failed');
    return [];
  }
}

async function recogniseHalves(
  deps: RecogniseDeps,
  request: RecogniseRequest,
): Promise<readonly RecognisedSegment[]> {
  const { segment } = request;
  if (segment.samples.length < MIN_SPEECH_SAMPLES) {
    deps.log.debug(toFields(request, segment), 'a short sound has no text');
    return [];
  }
  if (!request.isTriedInHalves) {
    deps.log.warn(toFields(request, segment), 'the recogniser returned no text for speech');
    return [];
  }
  const recognised: RecognisedSegment[] = [];
  for (const half of halve(segment)) {
    const words = await recogniseOnce(deps, request, half);
    if (words !== undefined) recognised.push(words);
    else deps.log.warn(toFields(request, half), 'the recogniser returned no text for speech');
  }
  return recognised;
}

/** Undefined when the recogniser returns no text or fails on this segment; throws when it is unavailable. */
async function recogniseOnce(
  deps: RecogniseDeps,
  request: RecogniseRequest,
  segment: VoicedSegment,
): Promise<RecognisedSegment | undefined> {
  const { language } = request;
  const onFailure = (error: unknown): void =>
    deps.log.warn({ ...toFields(request, segment), err: error }, 'the recogniser failed');
  try {
    const request = { samples: segment.samples, language };
    const recognition = await recogniseWithRetry(deps, request, { ...RETRY, onFailure });
    const text = recognition.text.trim();
    return text === '' ? undefined : { ...segment, ...recognition, text };
  } catch (error) {
    if (error instanceof ServiceError && error.retryable) throw error;
    return undefined;
  }
}

/** Cuts at the quietest point near the middle, so that no word is cut in two. */
export function halve({ start, samples }: VoicedSegment): readonly VoicedSegment[] {
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

type VocabularyDeps = {
  readonly store: VocabularyStores;
  readonly engine: SpeechEngine;
  readonly log: Log;
};

/**
 * Returns the engine of one transcription, which prefers the current vocabulary of the room. While the database does not
 * respond the vocabulary is empty.
 */
export function withVocabulary({ store, engine, log }: VocabularyDeps, room: string): SpeechEngine {
  const reading = store.vocabularies.findOrPlanned(room).catch((error: unknown) => {
    log.warn({ err: error }, 'reading the vocabulary of a room failed; transcribing without it');
    return [];
  });
  return {
    name: engine.name,
    get languages() {
      return engine.languages;
    },
    isRemoteFor: (language) => engine.isRemoteFor(language),
    maxSegmentSecondsFor: (language) => engine.maxSegmentSecondsFor(language),
    supports: (language) => engine.supports(language),
    prepare: (language) => engine.prepare(language),
    recognise: async (request) => engine.recognise({ ...request, vocabulary: await reading }),
    close: () => engine.close(),
  };
}
