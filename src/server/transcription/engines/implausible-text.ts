import { deflateSync } from 'node:zlib';
import type { Recognition } from './speech.ts';

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
