import { SpeechFault } from './recording-audio.ts';

/** Lost sound; ffmpeg goes on and ends with success all the same. Its other complaints cost nothing. */
const DAMAGE =
  /Error while decoding|Error submitting packet|partial file|Invalid data found|corrupt|ends prematurely/i;

export type FfmpegEnd = {
  readonly exitCode: number | null;
  /** What it said at its level `error`. */
  readonly complaints: string;
  readonly decodedSeconds: number;
};

/** What is wrong with the file, by how ffmpeg ended on it; undefined for nothing. */
export function faultOf({ exitCode, complaints, decodedSeconds }: FfmpegEnd): SpeechFault | undefined {
  if (/matches no streams/.test(complaints)) {
    return new SpeechFault('recording-without-audio', 'The recording has no audio track.');
  }
  const isWhole = exitCode === 0 && !DAMAGE.test(complaints);
  if (isWhole && decodedSeconds > 0) return undefined;
  if (isWhole)
    return new SpeechFault('recording-without-audio', 'The audio track of the recording is empty.');
  if (decodedSeconds > 0) {
    return new SpeechFault(
      'recording-damaged',
      `A part of the audio cannot be read; ${Math.round(decodedSeconds)} s of it were, and the transcript has what was said in them.`,
    );
  }
  return new SpeechFault(
    'recording-not-media',
    'The file cannot be read as media: it is something else, or was cut off before it was finished.',
  );
}
