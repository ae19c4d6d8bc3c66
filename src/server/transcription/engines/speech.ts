/*
 * Speech to text. Audio is 16 kHz, mono, floats from -1 to 1. The voice activity detector cuts it into segments, and
 * a recogniser turns a segment into text. Both run native code, in workers only and never in the service.
 */
export const SAMPLE_RATE = 16_000;

export interface SpeechEngine {
  readonly name: string;
  /** Whether a recognition in this language sends its audio to a server, which may charge for it by the second. */
  isRemoteFor(language: string): boolean;
  /** BCP 47 tags, and AUTO where a model can tell, sorted. A primary language stands for all of its regions. */
  readonly languages: readonly string[];
  /** Longer segments in this language must be cut before recognition. Throws as `recognise` rejects. */
  maxSegmentSecondsFor(language: string): number;
  /** Whether the engine can serve a language (`en` serves `en-GB`). */
  supports(language: string): boolean;
  /** Loads the model of a language, so that the first utterance need not wait for it. Rejects as `recognise` would. */
  prepare(language: string): Promise<void>;
  /** Rejects with ServiceError invalid-request, which lists the languages, when there is no model for this one. */
  recognise(request: RecognitionRequest): Promise<Recognition>;
  close(): Promise<void>;
}

export type RecognitionRequest = {
  readonly samples: Float32Array;
  readonly language: string;
  /** Names and terms to prefer, the most important first; recognisers that take none ignore it. */
  readonly vocabulary?: readonly string[] | undefined;
};

export type Recognition = {
  readonly text: string;
  readonly confidence: number | null;
  /** Where the model says when each word is spoken. */
  readonly words?: readonly RecognisedWord[] | undefined;
  /** BCP 47 tag of the language that is spoken, where AUTO was asked for and the model told. */
  readonly language?: string | undefined;
};

/** Seconds from the first sample. */
export type RecognisedWord = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number | null;
};

/** Stands for any language, where a model tells which one is spoken. */
export const AUTO = 'auto';

/** The language of a recognised text: `und`, as BCP 47 has it, where nobody knows. */
export function languageOf({ language }: Pick<Recognition, 'language'>, requested: string): string {
  return language ?? (requested === AUTO ? 'und' : requested);
}

/** Cuts a stream of samples into segments of speech, none longer than the recogniser accepts. */
export interface VoiceActivityDetector {
  /** Returns the segments that ended within these samples. */
  push(samples: Float32Array): readonly VoicedSegment[];
  /** Returns the current utterance so far, for interim results; undefined during silence. */
  current(): VoicedSegment | undefined;
  /** Ends the stream and returns the remaining segments. The next sample starts a new stream at index 0. */
  flush(): readonly VoicedSegment[];
  close(): void;
}

/** Tells also of a pause that is not long enough to end a segment. */
export interface PauseDetector extends VoiceActivityDetector {
  /**
   * Returns where the current utterance will end if the pause that has begun lasts; undefined while somebody speaks, and
   * during silence. Ask after each `push`: it costs as much as the detection itself.
   */
  pausedAt(): number | undefined;
}

export type VoicedSegment = {
  /** Index of the first sample in the stream. */
  readonly start: number;
  readonly samples: Float32Array;
};
