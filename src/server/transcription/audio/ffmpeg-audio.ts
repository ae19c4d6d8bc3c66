import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { HintedError } from '../../../contract/hint.ts';
import type { TranscriptionFault } from '../../../contract/transcription.ts';
import { codeOfError } from '../../../contract/unknown-value.ts';
import type { Log } from '../../platform/log.ts';
import type { FileLocation, RecordingFiles } from '../../recordings/files/recording-files.ts';
import { SAMPLE_RATE } from '../engines/speech.ts';
import { type ReadDeps, readWithRetry } from './read-with-retry.ts';

type FfmpegAudioDeps = ReadDeps & {
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
  const sizeBytes = await readSize(deps.files, file);
  signal.throwIfAborted();
  const maxSeconds = limitSeconds(file, deps.maxSeconds ?? MAX_SECONDS);
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

function limitSeconds({ durationMs }: RecordingFile, maxSeconds: number): number {
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

async function readSize(files: RecordingFiles, location: FileLocation): Promise<number> {
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

/** Containers of recordings. Other formats are refused: playlists and scripts can make ffmpeg read further files. */
const FORMATS = 'concat,mov,mp4,matroska,webm,mpegts,flv,avi,ogg,wav,mp3,aac,flac,asf';

/**
 * Limits of the process. A file of some megabytes can have an edit list or a table that takes a hundred times its size. The
 * index of a recording takes 11 MB for each hour, and decoding 48 hours takes some minutes.
 */
const MAX_MEMORY_KIB = 1024 * 1024;

const MAX_PROCESSOR_SECONDS = 3600;

/** Exit codes of a shell whose program cannot be run, or is not there. */
const NOT_STARTED: readonly (number | null)[] = [126, 127];

const BYTES_PER_SAMPLE = 4;

/** Maximum characters of ffmpeg's messages that are kept: enough to find the cause of an error. */
const MAX_STDERR = 16_384;

type Decoder = {
  /** 16 kHz, mono floats. */
  readonly samples: AsyncIterable<Float32Array>;
  /** Resolves when ffmpeg has exited. Rejects when it could not be started. */
  readonly end: () => Promise<{ readonly exitCode: number | null; readonly stderr: string }>;
  kill(): Promise<void>;
};

/** Passes the URL by standard input: every user of the machine can read the arguments of a process. */
export function startDecoder(program: string, url: string): Decoder {
  const child = spawnLimited(program, [
    ...['-hide_banner', '-nostats', '-loglevel', 'error'],
    ...['-protocol_whitelist', 'pipe,http,tcp', '-format_whitelist', FORMATS],
    ...['-f', 'concat', '-safe', '0', '-i', 'pipe:0'],
    // Gaps, and the time before a track begins, become silence, so that sample times are times in the recording.
    ...['-map', '0:a:0', '-af', 'aresample=async=1:first_pts=0', '-ac', '1', '-ar', String(SAMPLE_RATE)],
    ...['-f', 'f32le', 'pipe:1'],
  ]);
  const ended = waitForEnd(child);
  // ffmpeg may exit before it reads its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`ffconcat version 1.0\nfile '${url}'\n`);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR) stderr += text;
  });
  return {
    samples: toSamples(child.stdout),
    end: async () => {
      const { exitCode, failure } = await ended;
      if (failure !== undefined) throw failure;
      if (NOT_STARTED.includes(exitCode)) throw new Error(`${program} could not be started`);
      return { exitCode, stderr };
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Linux limits the memory of a process and its processor time. The shell sets the limits and becomes ffmpeg. */
function spawnLimited(
  program: string,
  args: readonly string[],
): ChildProcessByStdio<Writable, Readable, Readable> {
  const limits = `ulimit -d ${MAX_MEMORY_KIB}; ulimit -t ${MAX_PROCESSOR_SECONDS}; exec "$0" "$@"`;
  const [file, ...all] =
    process.platform === 'linux' ? ['/bin/sh', '-c', limits, program, ...args] : [program, ...args];
  return spawn(file, all, { stdio: ['pipe', 'pipe', 'pipe'], env: minimalEnvironment() });
}

/** Environment variables that ffmpeg gets: those needed to find and run it. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'SystemRoot'] as const;

/** ffmpeg reads untrusted files: an exploited bug in it must not find the secrets of our environment. */
function minimalEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
}

type Ending = { readonly exitCode: number | null; readonly failure: Error | undefined };

/** Never rejects, because no caller may be waiting for the result yet. */
function waitForEnd(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('error', (failure) => resolve({ exitCode: null, failure }));
    child.once('close', (exitCode) => resolve({ exitCode, failure: undefined }));
  });
}

/** A chunk of a pipe may end inside a number. */
async function* toSamples(bytes: Readable): AsyncGenerator<Float32Array> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of bytes as AsyncIterable<Buffer>) {
    const all = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const count = Math.floor(all.length / BYTES_PER_SAMPLE);
    rest = all.subarray(count * BYTES_PER_SAMPLE);
    if (count === 0) continue;
    // Copies the bytes, because a Float32Array must begin at a multiple of four bytes.
    const samples = new Uint8Array(all.subarray(0, count * BYTES_PER_SAMPLE));
    yield new Float32Array(samples.buffer, 0, count);
  }
}

/** Messages of ffmpeg that mean lost audio although it exits with 0. Other messages are harmless. */
const DAMAGE =
  /Error while decoding|Error submitting packet|partial file|Invalid data found|corrupt|ends prematurely/i;

type FfmpegEnd = {
  readonly exitCode: number | null;
  /** Standard error at the log level `error`. */
  readonly stderr: string;
  readonly decodedSeconds: number;
};

/** Finds out from ffmpeg's exit what is wrong with the file; undefined when nothing is. */
function findDecodingError({ exitCode, stderr, decodedSeconds }: FfmpegEnd): TranscriptionError | undefined {
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

/*
 * Serves one recording to one ffmpeg process by HTTP on loopback, at an unguessable path, while it is decoded. A pipe
 * would not do, because ffmpeg must seek: MP4 may have its index at the end. ffmpeg sees neither a pre-signed URL nor
 * the name of a room.
 */
type FileFeed = {
  readonly url: string;
  /** ffmpeg's current read position, as a share of the file. */
  readonly share: () => number;
  /** The error that made the feed fail, if any. */
  readonly failure: () => unknown;
  close(): Promise<void>;
};

type FeedRequest = {
  readonly location: FileLocation;
  readonly sizeBytes: number;
  readonly signal: AbortSignal;
};

async function startFeed(deps: ReadDeps, request: FeedRequest): Promise<FileFeed> {
  const path = `/${randomBytes(24).toString('base64url')}`;
  const state: FeedState = { position: 0, failure: undefined };
  const closing = new AbortController();
  const signal = AbortSignal.any([request.signal, closing.signal]);
  const server = createServer((incoming, response) => {
    if (incoming.url !== path) {
      response.writeHead(404).end();
      return;
    }
    serve(deps, { ...request, signal }, { incoming, response, state }).catch((error: unknown) => {
      // ffmpeg closes the connection in order to seek, which is no error.
      if (!signal.aborted && !isHangUp(error)) state.failure ??= error;
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    share: () => state.position / request.sizeBytes,
    failure: () => state.failure,
    close: async () => {
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type FeedState = { position: number; failure: unknown };

type Exchange = {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly state: FeedState;
};

async function serve(
  deps: ReadDeps,
  feed: FeedRequest,
  { incoming, response, state }: Exchange,
): Promise<void> {
  const { location, sizeBytes: end, signal } = feed;
  const start = Number(/^bytes=(\d+)-/.exec(incoming.headers.range ?? '')?.[1] ?? 0);
  if (start >= end) {
    response.writeHead(416, { 'content-range': `bytes */${end}` }).end();
    return;
  }
  const isPartial = incoming.headers.range !== undefined;
  response.writeHead(isPartial ? 206 : 200, {
    'content-type': 'application/octet-stream',
    'content-length': end - start,
    'accept-ranges': 'bytes',
    ...(isPartial ? { 'content-range': `bytes ${start}-${end - 1}/${end}` } : {}),
  });
  state.position = start;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of readWithRetry(deps, { location, start, end, signal })) {
      state.position += piece.length;
      yield piece;
    }
  };
  await pipeline(counted, response);
}

function isHangUp(error: unknown): boolean {
  const code = codeOfError(error);
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'EPIPE' || code === 'ECONNRESET';
}

/** Decodes the audio of recordings, whatever their container and codec. */
export interface RecordingAudio {
  /**
   * Decodes the first audio track in chunks and in constant memory, at the pace of its reader. Gaps become silence, so
   * that sample times are times in the file. Rejects with a TranscriptionError for a file that is missing, empty, not
   * media, without audio, or damaged (after everything readable was decoded), and with the ServiceErrors of
   * RecordingFiles.
   */
  decode(file: RecordingFile, signal: AbortSignal): AsyncIterable<AudioChunk>;
}

type RecordingFile = FileLocation & {
  /** Length of the recording as the recorder reported it. Null or undefined if it is not known. */
  readonly durationMs?: number | null;
};

type AudioChunk = {
  /** 16 kHz, mono, from -1 to 1. */
  readonly samples: Float32Array;
  /** Share of the file that was read, 0 to 1. */
  readonly share: number;
};

/** Why a transcription failed. `retryable` means that a later attempt may succeed without any change. */
export class TranscriptionError extends Error {
  override readonly name = 'TranscriptionError';
  readonly code: TranscriptionFault;
  readonly retryable: boolean;

  constructor(
    code: TranscriptionFault,
    message: string,
    { retryable = false, cause }: { readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
  }
}
