import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { HintedError } from '../../../contract/hint.ts';
import type { Log } from '../../platform/log.ts';
import type { FileLocation, RecordingFiles } from '../../recordings/files/recording-files.ts';
import { SAMPLE_RATE } from '../engines/speech.ts';
import { type Decoder, startDecoder } from './decode-audio.ts';
import { findDecodingError } from './ffmpeg-errors.ts';
import { startFeed } from './file-feed.ts';
import type { ReadDeps } from './read-with-retry.ts';
import {
  type AudioChunk,
  type RecordingAudio,
  type RecordingFile,
  TranscriptionError,
} from './recording-audio.ts';

export type FfmpegAudioDeps = ReadDeps & {
  readonly files: RecordingFiles;
  readonly log: Log;
  /** A path, or a name on the search path. */
  readonly program: string;
  /** Audio beyond it is not read. Undefined for the default. */
  readonly maxSeconds?: number;
};

/**
 * Gaps become silence, and a file of a few kilobytes can have gaps of years. 48 hours of silence keep a worker busy for less
 * than an hour.
 */
const MAX_SECONDS = 48 * 60 * 60;
/** If the recorder has reported a length, twice the length and ten minutes are enough. */
const MAX_RATIO = 2;
const SPARE_SECONDS = 600;

export function createFfmpegAudio(deps: FfmpegAudioDeps): RecordingAudio {
  return { decode: (file, signal) => decode(deps, file, signal) };
}

/** Resolves when the program can be run; rejects with a message that says what to install when it cannot. */
export async function checkFfmpeg(program: string): Promise<void> {
  try {
    await promisify(execFile)(program, ['-version']);
  } catch (cause) {
    throw new HintedError(
      `${JSON.stringify(program)} cannot be run`,
      { text: 'install ffmpeg, or set STT_FFMPEG to its path' },
      { cause },
    );
  }
}

async function* decode(
  deps: FfmpegAudioDeps,
  file: RecordingFile,
  signal: AbortSignal,
): AsyncGenerator<AudioChunk> {
  const sizeBytes = await sizeOf(deps.files, file);
  signal.throwIfAborted();
  const maxSeconds = maxSecondsOf(file, deps.maxSeconds ?? MAX_SECONDS);
  const feed = await startFeed(deps, { location: file, sizeBytes, signal });
  let decoder: Decoder | undefined;
  let count = 0;
  try {
    decoder = startDecoder(deps.program, feed.url);
    for await (const samples of decoder.samples) {
      signal.throwIfAborted();
      count += samples.length;
      requireLimit(count / SAMPLE_RATE, maxSeconds);
      yield { samples, share: Math.min(1, feed.share()) };
    }
    const end = await decoder.end();
    signal.throwIfAborted();
    if (feed.failure() !== undefined) throw feed.failure();
    const error = findDecodingError({ ...end, decodedSeconds: count / SAMPLE_RATE });
    if (error === undefined) return;
    deps.log.debug({ code: error.code, stderr: end.stderr }, 'ffmpeg reported errors in a recording');
    throw error;
  } finally {
    await decoder?.kill();
    await feed.close();
  }
}

function maxSecondsOf({ durationMs }: RecordingFile, maxSeconds: number): number {
  if (durationMs === undefined || durationMs === null || durationMs === 0) return maxSeconds;
  return Math.min(maxSeconds, (durationMs / 1000) * MAX_RATIO + SPARE_SECONDS);
}

function requireLimit(seconds: number, maxSeconds: number): void {
  if (seconds <= maxSeconds) return;
  const minutes = Math.round(maxSeconds / 60);
  throw new TranscriptionError(
    'recording-damaged',
    `The audio claims to be longer than ${minutes} minutes, which is more than the recording can have; the transcript has what was said until then.`,
  );
}

async function sizeOf(files: RecordingFiles, location: FileLocation): Promise<number> {
  const facts = await files.find(location);
  if (facts === undefined) {
    throw new TranscriptionError(
      'recording-file-not-found',
      'The file of the recording is no longer where it was stored.',
    );
  }
  if (facts.sizeBytes === 0)
    throw new TranscriptionError('recording-empty', 'The file of the recording is empty.');
  return facts.sizeBytes;
}
