import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import {
  badMedia,
  type Media,
  type MediaSource,
  type Picture,
  RoomClientError,
  type Sound,
} from './media.ts';
import { ByteReader, readWavOrRaw } from './wav.ts';

/*
 * Reads files of every other kind with ffmpeg. Audio and video have a process each, because one process that writes both
 * would wait forever for the reader of the one that is not due yet.
 */

const SOUND = { sampleRate: 48_000, channels: 2 };
const MAX_WIDTH = 1280;
const MAX_HEIGHT = 720;
const FRAMES_PER_SECOND = 25;
/** Allows only the protocol of files: a playlist must not make ffmpeg fetch addresses that its author names. */
const INPUT = ['-hide_banner', '-nostats', '-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'file'];

export function createFfmpegMedia(path: string, environment: NodeJS.ProcessEnv): MediaSource {
  const input = [...INPUT, '-i', `file:${path}`];
  const sound = ['-map', '0:a:0', '-af', 'aresample=async=1:first_pts=0', '-ac', '2', '-ar', '48000'];
  const fit = `scale=w=min(${MAX_WIDTH}\\,iw):h=min(${MAX_HEIGHT}\\,ih):force_original_aspect_ratio=decrease:force_divisible_by=2`;
  const picture = ['-map', '0:v:0', '-vf', fit, '-r', String(FRAMES_PER_SECOND), '-pix_fmt', 'yuv420p'];
  return {
    open: async () => {
      const children = [
        start([...input, ...sound, '-f', 's16le', 'pipe:1'], environment),
        start([...input, ...picture, '-f', 'yuv4mpegpipe', 'pipe:1'], environment),
      ] as const;
      const close = async (): Promise<void> => {
        await Promise.all(children.map((child) => child.stop()));
      };
      try {
        return await openMedia(path, children, close);
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

async function openMedia(
  path: string,
  [audio, video]: readonly [Ffmpeg, Ffmpeg],
  close: () => Promise<void>,
): Promise<Media> {
  const [sound, picture] = await Promise.all([readSound(audio), readPicture(video)]);
  const reason = (await audio.failure()) ?? (await video.failure());
  if (reason?.kind === 'missing') {
    throw new RoomClientError(
      'ERR_UNAVAILABLE',
      `ffmpeg is needed to read ${path}, but it is not installed`,
      {
        text: 'install ffmpeg, or pass a WAV file with 16-bit samples',
      },
    );
  }
  if (sound === undefined && picture === undefined) {
    throw badMedia(`ffmpeg finds no sound and no pictures in ${path}: ${reason?.text ?? 'it is empty'}`, {
      text: 'look at it',
      command: `ffprobe ${path}`,
    });
  }
  return { sound, picture, close };
}

/** Returns undefined when the file has no audio. */
async function readSound({ bytes }: Ffmpeg): Promise<Sound | undefined> {
  const sound = await readWavOrRaw(bytes, { name: 'the sound', raw: SOUND });
  const first = await sound.frames.next();
  if (first.done === true) return undefined;
  return { ...sound, frames: startingWith(first.value, sound.frames) };
}

async function* startingWith<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** Returns undefined when the file has no video. The size is in the first line, `YUV4MPEG2 W1280 H720 …`. */
async function readPicture({ bytes }: Ffmpeg): Promise<Picture | undefined> {
  const reader = new ByteReader(bytes);
  const header = (await reader.readLine(1_024)) ?? '';
  const [width, height] = ['W', 'H'].map((name) => Number(new RegExp(` ${name}(\\d+)`).exec(header)?.[1]));
  if (!(Number(width) > 0) || !(Number(height) > 0)) return undefined;
  const size = { width: Number(width), height: Number(height) };
  return { ...size, framesPerSecond: FRAMES_PER_SECOND, frames: readPictureFrames(reader, size) };
}

async function* readPictureFrames(
  reader: ByteReader,
  { width, height }: { readonly width: number; readonly height: number },
): AsyncGenerator<Uint8Array> {
  const length = (width * height * 3) / 2;
  // Each frame has a line of its own before it.
  while ((await reader.readLine(1_024)) !== undefined) {
    const frame = await reader.read(length);
    if (frame.length < length) return;
    yield new Uint8Array(frame);
  }
}

type Ffmpeg = {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Why ffmpeg failed; undefined while it runs, or when it has succeeded. */
  failure(): Promise<{ readonly kind: 'missing' | 'failed'; readonly text: string } | undefined>;
  stop(): Promise<void>;
};

/**
 * Environment variables that ffmpeg needs to be found and to run. It gets no others, because an exploited bug in it must not
 * find secrets.
 */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'SystemRoot'] as const;
const MAX_STDERR = 4_096;

function start(args: readonly string[], environment: NodeJS.ProcessEnv): Ffmpeg {
  const env = Object.fromEntries(PASSED_ON.map((name) => [name, environment[name]]));
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn('ffmpeg', [...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  let stderr = '';
  let missing: NodeJS.ErrnoException | undefined;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR) stderr += text;
  });
  child.once('error', (error) => {
    missing = error;
  });
  const ended = once(child, 'close').catch(() => undefined);
  return {
    bytes: child.stdout,
    failure: async () => {
      if (child.exitCode === null && missing === undefined && !child.stdout.readableEnded) return undefined;
      await ended;
      if (missing !== undefined) return { kind: 'missing', text: missing.message };
      const lastLine = stderr.trim().split('\n').at(-1) ?? '';
      return child.exitCode === 0 ? undefined : { kind: 'failed', text: lastLine };
    },
    stop: async () => {
      child.stdout.destroy();
      child.kill('SIGKILL');
      await ended;
    },
  };
}
