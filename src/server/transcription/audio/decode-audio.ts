import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { SAMPLE_RATE } from '../engines/speech.ts';

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

export type Decoder = {
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
  const ended = endOf(child);
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
function endOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<Ending> {
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
