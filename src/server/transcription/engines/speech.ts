/*
 * Speech to text. Audio is 16 kHz, mono, floats from -1 to 1. The voice activity detector cuts it into segments, and
 * a recogniser turns a segment into text. Both run native code, in workers only and never in the service.
 */
export const SAMPLE_RATE = 16_000;

/** Returns how long samples last, in whole milliseconds. */
export function toMs(samples: number): number {
  return Math.round((samples / SAMPLE_RATE) * 1000);
}

export interface SpeechEngine {
  readonly name: string;
  /** Returns whether a recognition in this language sends its audio to a server, which may charge for it by the second. */
  isRemoteFor(language: string): boolean;
  /**
   * BCP 47 tags, sorted, with AUTO when a model can detect the language. A primary language includes all of its regions.
   */
  readonly languages: readonly string[];
  /**
   * Maximum length of a segment in this language; longer ones must be cut before recognition. Throws the errors of
   * `recognise`.
   */
  maxSegmentSecondsFor(language: string): number;
  /** Returns whether the engine can serve a language (`en` serves `en-GB`). */
  supports(language: string): boolean;
  /**
   * Loads the model of a language, so that the first utterance need not wait for it. Rejects with the errors of `recognise`.
   */
  prepare(language: string): Promise<void>;
  /** Rejects with ServiceError invalid-request, which lists the languages, when there is no model for this one. */
  recognise(request: RecognitionRequest): Promise<Recognition>;
  close(): Promise<void>;
}

export type RecognitionRequest = {
  readonly samples: Float32Array;
  readonly language: string;
  /** Names and terms to prefer, the most important first. Some recognisers ignore them. */
  readonly vocabulary?: readonly string[] | undefined;
};

export type Recognition = {
  readonly text: string;
  readonly confidence: number | null;
  /** Words with times, when the model returns times. */
  readonly words?: readonly RecognisedWord[] | undefined;
  /** BCP 47 tag of the spoken language, when AUTO was requested and the model detected it. */
  readonly language?: string | undefined;
};

/** A word with its times in seconds from the first sample. */
export type RecognisedWord = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number | null;
};

/** Language tag for "any": the model detects which language is spoken. */
export const AUTO = 'auto';

/** Returns the language of a recognised text; `und`, the BCP 47 tag for an unknown language, when it was not detected. */
export function chooseLanguage({ language }: Pick<Recognition, 'language'>, requested: string): string {
  return language ?? (requested === AUTO ? 'und' : requested);
}

/** Cuts a stream of samples into segments of speech, none longer than the recogniser accepts. */
export interface VoiceActivityDetector {
  /** Returns the segments that ended within these samples. */
  push(samples: Float32Array): readonly VoicedSegment[];
  /** Returns the speech of the utterance that has not ended, for interim results; undefined during silence. */
  speechSoFar(): VoicedSegment | undefined;
  /** Ends the stream and returns the remaining segments. The next sample starts a new stream at index 0. */
  flush(): readonly VoicedSegment[];
  close(): void;
}

/** A detector that also reports a pause that is not long enough to end a segment. */
export interface PauseDetector extends VoiceActivityDetector {
  /** Returns the pause that has begun in the current utterance; undefined while somebody speaks, and during silence. */
  pause(): Pause | undefined;
  /** Ends the current utterance although its pause is not long enough for that, and returns its segments. */
  endAtPause(): readonly VoicedSegment[];
}

export type Pause = {
  /** Length so far. */
  readonly seconds: number;
  /** Index in the stream at which the utterance ends if nobody speaks any more. */
  readonly utteranceEnd: number;
};

export type VoicedSegment = {
  /** Index of the first sample in the stream. */
  readonly start: number;
  readonly samples: Float32Array;
};

/** Languages of the multilingual Whisper models (https://github.com/openai/whisper/blob/main/whisper/tokenizer.py). */
export const WHISPER_LANGUAGES: readonly string[] = [
  ...['en', 'zh', 'de', 'es', 'ru', 'ko', 'fr', 'ja', 'pt', 'tr', 'pl', 'ca', 'nl', 'ar', 'sv', 'it', 'id'],
  ...['hi', 'fi', 'vi', 'he', 'uk', 'el', 'ms', 'cs', 'ro', 'da', 'hu', 'ta', 'no', 'th', 'ur', 'hr', 'bg'],
  ...['lt', 'la', 'mi', 'ml', 'cy', 'sk', 'te', 'fa', 'lv', 'bn', 'sr', 'az', 'sl', 'kn', 'et', 'mk', 'br'],
  ...['eu', 'is', 'hy', 'ne', 'mn', 'bs', 'kk', 'sq', 'sw', 'gl', 'mr', 'pa', 'si', 'km', 'sn', 'yo', 'so'],
  ...['af', 'oc', 'ka', 'be', 'tg', 'sd', 'gu', 'am', 'yi', 'lo', 'uz', 'fo', 'ht', 'ps', 'tk', 'nn', 'mt'],
  ...['sa', 'lb', 'my', 'bo', 'tl', 'mg', 'as', 'tt', 'haw', 'ln', 'ha', 'ba', 'jw', 'su'],
];

/** Finds the BCP 47 tag that serves a language: `en` serves `en-GB`, and so does `en-US` when there is no closer tag. */
export function matchLanguage(wanted: string, available: readonly string[]): string | undefined {
  const lower = wanted.toLowerCase();
  const primary = lower.split('-')[0];
  return (
    available.find((tag) => tag.toLowerCase() === lower) ??
    available.find((tag) => tag.toLowerCase() === primary) ??
    available.find((tag) => tag.toLowerCase().split('-')[0] === primary)
  );
}
