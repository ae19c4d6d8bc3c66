import { judgeText } from '../engines/judge-text.ts';
import { type Recognition, SAMPLE_RATE, type SpeechEngine, type VoicedSegment } from '../engines/speech.ts';

/**
 * The detector of the track and the one that listens for pauses agree on the end of speech to 14 ms mostly, and to 60 ms
 * else. Both leave a tenth of a second behind it.
 */
const TOLERANCE_SAMPLES = SAMPLE_RATE * 0.08;

/** Indices of samples in a stream. */
export type SampleSpan = { readonly start: number; readonly end: number };

/**
 * A recognition of the current utterance that begins with a pause, before anybody knows whether the pause ends it. When
 * it does, the text is there already. When the speaker goes on, nobody asks for it.
 */
export class Speculation {
  readonly #span: SampleSpan;
  #recognition: Recognition | undefined;

  constructor(span: SampleSpan) {
    this.#span = span;
  }

  /** Rejects as the engine does. */
  async recognise(engine: SpeechEngine, { samples }: VoicedSegment, language: string): Promise<Recognition> {
    const recognition = await engine.recognise({ samples, language });
    this.#recognition = judgeText(recognition, samples.length / SAMPLE_RATE);
    return this.#recognition;
  }

  /** The recognition of a segment; undefined where it is not the utterance that was expected, or has no text. */
  recognitionOf({ start, end }: SampleSpan): Recognition | undefined {
    const isExpected = start === this.#span.start && Math.abs(end - this.#span.end) <= TOLERANCE_SAMPLES;
    return isExpected && this.#recognition?.text !== '' ? this.#recognition : undefined;
  }
}

export function spanOf({ start, samples }: VoicedSegment): SampleSpan {
  return { start, end: start + samples.length };
}
