import { TranscriptionError } from './recording-audio.ts';

/** Messages of ffmpeg that mean lost audio although it exits with 0. Other messages are harmless. */
const DAMAGE =
  /Error while decoding|Error submitting packet|partial file|Invalid data found|corrupt|ends prematurely/i;

export type FfmpegEnd = {
  readonly exitCode: number | null;
  /** Standard error at the log level `error`. */
  readonly stderr: string;
  readonly decodedSeconds: number;
};

/** Finds out from ffmpeg's exit what is wrong with the file; undefined when nothing is. */
export function findDecodingError({
  exitCode,
  stderr,
  decodedSeconds,
}: FfmpegEnd): TranscriptionError | undefined {
  if (/matches no streams/.test(stderr)) {
    return new TranscriptionError('recording-without-audio', 'The recording has no audio track.');
  }
  const isWhole = exitCode === 0 && !DAMAGE.test(stderr);
  if (isWhole && decodedSeconds > 0) return undefined;
  if (isWhole)
    return new TranscriptionError('recording-without-audio', 'The audio track of the recording is empty.');
  if (decodedSeconds > 0) {
    return new TranscriptionError(
      'recording-damaged',
      `A part of the audio cannot be read; ${Math.round(decodedSeconds)} s were read, and the transcript has what was said in them.`,
    );
  }
  return new TranscriptionError(
    'recording-not-media',
    'The file cannot be read as media: it has another format, or was cut off before it was complete.',
  );
}
