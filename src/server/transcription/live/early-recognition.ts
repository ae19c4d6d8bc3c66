import { limitConfidence } from '../engines/recognise-with-retry.ts';
import { type Recognition, SAMPLE_RATE, type SpeechEngine, type VoicedSegment } from '../engines/speech.ts';

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
