/*
 * Speech to text. Audio is 16 kHz, mono, floats from -1 to 1. A recogniser turns one voiced segment into text; what
 * is a segment, the voice activity detector says. Both are synchronous work of native code: they run in workers,
 * never in the service.
 */
export const SAMPLE_RATE = 16_000;

export interface SpeechEngine {
  readonly name: string;
  /** BCP 47 tags, or primary languages that stand for all of their regions; sorted. */
  readonly languages: readonly string[];
  /** Longer segments must be cut before they are recognised. */
  readonly maxSegmentSeconds: number;
  /** Whether a request for this language can be served (`en` serves `en-GB`). */
  supports(language: string): boolean;
  /** Loads what it takes, so that the first words need not wait for it. Rejects as `recognise` would. */
  prepare(language: string): Promise<void>;
  /** Rejects with ServiceError invalid-request for a language without a model, naming the ones there are. */
  recognise(request: RecognitionRequest): Promise<Recognition>;
  close(): Promise<void>;
}

export type RecognitionRequest = {
  readonly samples: Float32Array;
  readonly language: string;
};

export type Recognition = {
  readonly text: string;
  readonly confidence: number | null;
};

/** Cuts a stream of samples into voiced segments, none longer than the recogniser takes. */
export interface VoiceActivityDetector {
  /** Segments that ended within these samples. */
  push(samples: Float32Array): readonly VoicedSegment[];
  /** What is voiced at the moment and has not ended; for interim results. */
  current(): VoicedSegment | undefined;
  /** The rest, at the end of the stream. The next sample begins a new one, at index 0. */
  flush(): readonly VoicedSegment[];
  close(): void;
}

export type VoicedSegment = {
  /** Sample index in the stream. */
  readonly start: number;
  readonly samples: Float32Array;
};
