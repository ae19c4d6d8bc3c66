import { deflateSync } from 'node:zlib';
import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { VocabularyStores } from '../vocabulary/vocabularies.sql.ts';
import {
  type Recognition,
  type RecognitionRequest,
  SAMPLE_RATE,
  type SpeechEngine,
  toMs,
  type VoicedSegment,
} from './speech.ts';

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
  return { transcriptionId, trackId, durationMs: toMs(samples.length) };
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

export type RetryPolicy = {
  /** Pause before each further attempt. There is one attempt more than pauses. */
  readonly pausesMs: readonly number[];
  /** Upper limit for a pause that the server asks for by Retry-After. */
  readonly maxPauseMs: number;
  readonly signal?: AbortSignal;
  /** Called for each failure, including the last. */
  readonly onFailure?: (error: unknown) => void;
};

/**
 * Recognises speech with further attempts while a speech server is busy or unavailable, and limits the confidence of
 * implausible text. Throws the error of the last attempt. The header `retry-after` of an error holds the seconds that the
 * server asked for.
 */
export async function recogniseWithRetry(
  { engine, clock }: { readonly engine: SpeechEngine; readonly clock: Clock },
  request: RecognitionRequest,
  { pausesMs, maxPauseMs, signal, onFailure }: RetryPolicy,
): Promise<Recognition> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return limitConfidence(await engine.recognise(request), request.samples.length / SAMPLE_RATE);
    } catch (error) {
      onFailure?.(error);
      const pauseMs = pausesMs[attempt];
      if (pauseMs === undefined || !(error instanceof ServiceError && error.retryable)) throw error;
      const retryAfter = Number(error.headers['retry-after']);
      const retryAfterMs = Number.isFinite(retryAfter) ? retryAfter * 1000 : 0;
      await clock.sleep(Math.max(pauseMs, Math.min(retryAfterMs, maxPauseMs)), signal);
    }
  }
}

/** Text with a higher compression ratio repeats itself. The limit is Whisper's own. */
const MAX_COMPRESSION_RATIO = 2.4;

/** Upper limit: quick speech has 20 characters a second. */
const MAX_CHARACTERS_PER_SECOND = 35;

/** Shorter sounds are not judged. */
const MIN_SECONDS = 0.5;

/** Confidence of a text that is certain to be wrong. */
const DOUBTFUL_CONFIDENCE = 0.1;

/**
 * Lowers the confidence of a text that nobody can have said: one that repeats itself, or that is too long for its
 * sound. Models invent such texts for sound that they do not know, such as another language.
 */
export function limitConfidence(recognition: Recognition, seconds: number): Recognition {
  const { text, confidence } = recognition;
  const isTooLong = seconds >= MIN_SECONDS && text.length / seconds > MAX_CHARACTERS_PER_SECOND;
  if (!isTooLong && compressionRatio(text) <= MAX_COMPRESSION_RATIO) return recognition;
  return { ...recognition, confidence: Math.min(confidence ?? 1, DOUBTFUL_CONFIDENCE) };
}

function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length;
}
