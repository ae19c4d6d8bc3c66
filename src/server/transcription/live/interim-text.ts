import { SAMPLE_RATE, type SpeechEngine, type VoicedSegment } from '../engines/speech.ts';

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
