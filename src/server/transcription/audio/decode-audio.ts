import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { SAMPLE_RATE } from '../engines/speech.ts';

/**
 * Containers that hold recordings. The rest is refused: playlists and scripts, in which a file could name others for
 * ffmpeg to read.
 */
const FORMATS = 'concat,mov,mp4,matroska,webm,mpegts,flv,avi,ogg,wav,mp3,aac,flac,asf';

const BYTES_PER_SAMPLE = 4;
/** Enough to tell what was wrong. */
const MAX_COMPLAINTS = 16_384;

export type Decoder = {
  /** 16 kHz, mono floats. */
  readonly samples: AsyncIterable<Float32Array>;
  /** When the samples have ended. Rejects where the program could not be started. */
  readonly end: () => Promise<{ readonly exitCode: number | null; readonly complaints: string }>;
  kill(): Promise<void>;
};

/** The URL goes by standard input: arguments of a process are for everybody on the machine to read. */
export function startDecoder(program: string, url: string): Decoder {
  const child = spawn(
    program,
    [
      ...['-hide_banner', '-nostats', '-loglevel', 'error'],
      ...['-protocol_whitelist', 'pipe,http,tcp', '-format_whitelist', FORMATS],
      ...['-f', 'concat', '-safe', '0', '-i', 'pipe:0'],
      // Gaps, and a track that begins late, become silence: seconds are those of the recording.
      ...['-map', '0:a:0', '-af', 'aresample=async=1:first_pts=0', '-ac', '1', '-ar', String(SAMPLE_RATE)],
      ...['-f', 'f32le', 'pipe:1'],
    ],
    { stdio: ['pipe', 'pipe', 'pipe'], env: harmlessEnvironment() },
  );
  const ended = endOf(child);
  // It may have ended before it read.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`ffconcat version 1.0\nfile '${url}'\n`);
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaints.length < MAX_COMPLAINTS) complaints += text;
  });
  return {
    samples: toSamples(child.stdout),
    end: async () => {
      const { exitCode, failure } = await ended;
      if (failure !== undefined) throw failure;
      return { exitCode, complaints };
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** What a program needs to be found and to run. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'SystemRoot'] as const;

/** It reads files of strangers, and a fault in it must not find our secrets, which are in the environment. */
function harmlessEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
}

type Ending = { readonly exitCode: number | null; readonly failure: Error | undefined };

/** Never rejects: nobody may wait for it yet. */
function endOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('error', (failure) => resolve({ exitCode: null, failure }));
    child.once('close', (exitCode) => resolve({ exitCode, failure: undefined }));
  });
}

/** Chunks of a pipe end anywhere, also within a number. */
async function* toSamples(bytes: Readable): AsyncGenerator<Float32Array> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of bytes as AsyncIterable<Buffer>) {
    const all = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const count = Math.floor(all.length / BYTES_PER_SAMPLE);
    rest = all.subarray(count * BYTES_PER_SAMPLE);
    if (count === 0) continue;
    // A copy: a view of four-byte numbers must begin at a multiple of four.
    const samples = new Uint8Array(all.subarray(0, count * BYTES_PER_SAMPLE));
    yield new Float32Array(samples.buffer, 0, count);
  }
}
