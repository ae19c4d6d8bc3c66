import { limitConfidence } from '../engines/recognise-speech.ts';
import { type Recognition, SAMPLE_RATE, type SpeechEngine, type VoicedSegment } from '../engines/speech.ts';
import type { LiveOptions, StoredWord } from '../store.ts';

/*
 * Texts of an utterance that has not ended: interim results while somebody speaks (InterimText, StableText), and a recognition
 * in a pause that may be its end (EarlyRecognition). At the bottom the options of a transcription are applied to any text.
 */

/** Shorter new speech is not worth a request: a server recognises single words badly. */
const MIN_NEW_SAMPLES = SAMPLE_RATE * 1.5;

/**
 * Recognises the current utterance so far. A local engine recognises all of it each time. A remote engine gets only the
 * samples that it has not had for an interim result, so that no second of audio is sent more than once before the final
 * result; their texts are joined.
 */
export class InterimText {
  readonly #engine: SpeechEngine;
  readonly #language: string;
  #sentUntil = 0;
  #text = '';

  constructor(engine: SpeechEngine, language: string) {
    this.#engine = engine;
    this.#language = language;
  }

  /** Returns the text so far and its confidence; undefined when there is too little new speech. */
  async recognise({ start, samples }: VoicedSegment) {
    const language = this.#language;
    if (!this.#engine.isRemoteFor(language)) return await this.#engine.recognise({ samples, language });
    const from = Math.max(start, this.#sentUntil);
    const unsent = samples.subarray(from - start);
    if (unsent.length < MIN_NEW_SAMPLES) return undefined;
    this.#sentUntil = start + samples.length;
    const recognition = await this.#engine.recognise({ samples: unsent, language });
    this.#text = `${this.#text} ${recognition.text.trim()}`.trim();
    return { ...recognition, text: this.#text };
  }
}

/**
 * Keeps the words of interim results from flickering. A word that two results in a row have in the same place stays as it
 * was shown first, whatever later results make of it; the final text corrects it. The words after it may still change.
 */
export class StableText {
  #kept: readonly string[] = [];
  #previous: readonly string[] = [];

  /** Returns the text to show for the next result of the same utterance. */
  next(text: string): string {
    const words = withoutEnd(text).split(/\s+/).filter(Boolean);
    const agreed = agreedWords(words, this.#previous);
    this.#previous = words;
    const isContinued = agreedWords(words, this.#kept) === this.#kept.length;
    if (isContinued) this.#kept = [...this.#kept, ...words.slice(this.#kept.length, agreed)];
    return [...this.#kept, ...words.slice(this.#kept.length)].join(' ');
  }
}

/** Models end every text like a sentence, also in the middle of one. */
function withoutEnd(text: string): string {
  return text.trimEnd().replace(/[.\u2026\u3002]+$/u, '');
}

/** The number of words that both begin with, whatever their capitals and punctuation. */
function agreedWords(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((word, at) => toBareWord(word) !== toBareWord(other[at] ?? ''));
  return differs === -1 ? Math.min(one.length, other.length) : differs;
}

function toBareWord(word: string): string {
  return word.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]/gu, '');
}

/** Indices of samples in a stream. */
type SampleSpan = { readonly start: number; readonly end: number };

/** A mark that ends a sentence in any script, but not an ellipsis; brackets and quotation marks may follow. */
const SENTENCE_END = /(?<!\.)\p{Sentence_Terminal}[\p{Final_Punctuation}\p{Close_Punctuation}"']*$/u;

/**
 * Recognises an utterance when a pause begins, before it is known whether the pause ends the utterance. If it does,
 * the text is available at once. If the speaker continues, the result is not used.
 */
export class EarlyRecognition {
  readonly #span: SampleSpan;
  #recognition: Recognition | undefined;

  constructor(span: SampleSpan) {
    this.#span = span;
  }

  /** True when the text is there and ends like a sentence: then the speaker has probably finished. */
  get isSentence(): boolean {
    return SENTENCE_END.test(this.#recognition?.text.trimEnd() ?? '');
  }

  /** Rejects as the engine does. */
  async recognise(engine: SpeechEngine, { samples }: VoicedSegment, language: string): Promise<Recognition> {
    const recognition = await engine.recognise({ samples, language });
    this.#recognition = limitConfidence(recognition, samples.length / SAMPLE_RATE);
    return this.#recognition;
  }

  /**
   * Returns the recognition of a segment; undefined when the segment is not the expected utterance, or when the recognition
   * has no text.
   */
  findRecognition({ start, end }: SampleSpan): Recognition | undefined {
    const isExpected = start === this.#span.start && end === this.#span.end;
    return isExpected && this.#recognition?.text !== '' ? this.#recognition : undefined;
  }
}

export function toSampleSpan({ start, samples }: VoicedSegment): SampleSpan {
  return { start, end: start + samples.length };
}

/*
 * Applies the options of a transcription to recognised text. Without punctuation the text becomes lower case. The
 * profanity filter keeps the first letter and the length of a word.
 */

/** Stems of words that broadcasters bleep, in English and Italian. */
const PROFANITY =
  /\b(?:(?:mother)?fuck\w*|shit\w*|bullshit\w*|bitch\w*|cunt\w*|asshole\w*|bastard\w*|dick(?:head)?s?|wank\w*|twat\w*|cazz\w*|merd\w*|stronz\w*|vaffancul\w*|coglion\w*|puttan\w*|minchi\w*|fottut\w*)\b/giu;

export function applyOptions(
  text: string,
  options: Pick<LiveOptions, 'punctuation' | 'profanityFilter'>,
): string {
  const clean = options.profanityFilter ? maskProfanity(text) : text;
  return options.punctuation ? clean : withoutPunctuation(clean);
}

/** A word that was nothing but punctuation is left out. */
export function wordsWithOptions(
  { words }: { readonly words?: readonly StoredWord[] },
  options: Pick<LiveOptions, 'punctuation' | 'profanityFilter'>,
): { readonly words?: readonly StoredWord[] } {
  if (words === undefined) return {};
  const changed = words.map((word) => ({ ...word, text: applyOptions(word.text, options) }));
  return { words: changed.filter(({ text }) => text !== '') };
}

function maskProfanity(text: string): string {
  return text.replace(PROFANITY, (word) => `${word[0]}${'*'.repeat(word.length - 1)}`);
}

/** Keeps apostrophes and hyphens inside words, and the asterisks of the profanity filter. */
function withoutPunctuation(text: string): string {
  return text
    .toLowerCase()
    .replace(/(?<![\p{L}\p{N}])['’-]|['’-](?![\p{L}\p{N}])|[^\p{L}\p{M}\p{N}\s'’*-]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
