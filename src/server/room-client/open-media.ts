import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { ByteReader } from '../platform/byte-reader.ts';
import {
  badMedia,
  frameLength,
  type Media,
  type MediaSource,
  type Picture,
  RoomClientError,
  type Sound,
} from './media.ts';
import { type RawFormat, readWav, readWavOrRaw } from './wav.ts';

export type Publication =
  | { readonly kind: 'test-pattern'; readonly parts: readonly ('audio' | 'video')[] }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stdin'; readonly stream: Readable; readonly raw: RawFormat };

/** Opens media. Rejects when the file cannot be opened. */
export async function openMedia(
  publication: Publication,
  environment: NodeJS.ProcessEnv,
): Promise<MediaSource> {
  if (publication.kind === 'test-pattern') return createTestPattern(publication.parts);
  if (publication.kind === 'stdin') {
    const { stream, raw } = publication;
    return soundOnly(
      async () => await readWavOrRaw(stream, { name: 'stdin', raw }),
      () => {},
    );
  }
  const { path } = publication;
  // Reports a missing file before the room is joined, and by its own name instead of ffmpeg's.
  await (await open(path)).close();
  if (!/\.wav$/i.test(path)) return createFfmpegMedia(path, environment);
  let file: Readable | undefined;
  return soundOnly(
    async () => {
      file = createReadStream(path);
      return await readWav(file, path);
    },
    () => file?.destroy(),
  );
}

function soundOnly(open: () => Promise<Sound>, close: () => void): MediaSource {
  return {
    open: async () => ({ sound: await open(), picture: undefined, close: async () => close() }),
  };
}

/** Creates an endless source with a moving picture and a tone. */
function createTestPattern(parts: readonly ('audio' | 'video')[]): MediaSource {
  return {
    open: async (): Promise<Media> => ({
      sound: parts.includes('audio') ? tone() : undefined,
      picture: parts.includes('video') ? movingBars() : undefined,
      close: async () => {},
    }),
  };
}

const TONE_HZ = 440;

const PATTERN = { width: 640, height: 360, framesPerSecond: 15 };

const SAMPLE_RATE = 48_000;

/** A quarter of full scale: as loud as speech, and bearable in a headset. */
const AMPLITUDE = 8_192;

function tone(): Sound {
  const length = frameLength(SAMPLE_RATE);
  async function* frames(): AsyncGenerator<Int16Array> {
    for (let start = 0; ; start += length) {
      yield Int16Array.from({ length }, (_, index) =>
        Math.round(AMPLITUDE * Math.sin((2 * Math.PI * TONE_HZ * (start + index)) / SAMPLE_RATE)),
      );
    }
  }
  return { sampleRate: SAMPLE_RATE, channels: 1, frames: frames() };
}

/** The colours of SMPTE's bars: white, yellow, cyan, green, magenta, red, blue, black. */
const BARS = [
  [180, 128, 128],
  [162, 44, 142],
  [131, 156, 44],
  [112, 72, 58],
  [84, 184, 198],
  [65, 100, 212],
  [35, 212, 114],
  [16, 128, 128],
] as const;

const STEP = 4;

function movingBars(): Picture {
  const { width, height } = PATTERN;
  // The picture is twice as wide as a frame, and each frame is a window of it.
  const rows = ([0, 1, 2] as const).map((plane) => {
    const planeWidth = plane === 0 ? width : width / 2;
    const bar = planeWidth / BARS.length;
    return Uint8Array.from({ length: 2 * planeWidth }, (_, x) => {
      return BARS[Math.floor((x % planeWidth) / bar)]?.[plane] ?? 0;
    });
  });
  async function* frames(): AsyncGenerator<Uint8Array> {
    for (let shift = 0; ; shift = (shift + STEP) % width) {
      const frame = new Uint8Array((width * height * 3) / 2);
      let at = 0;
      for (const [plane, row] of rows.entries()) {
        const [planeWidth, planeHeight] = plane === 0 ? [width, height] : [width / 2, height / 2];
        const from = plane === 0 ? shift : shift / 2;
        for (let y = 0; y < planeHeight; y += 1, at += planeWidth) {
          frame.set(row.subarray(from, from + planeWidth), at);
        }
      }
      yield frame;
    }
  }
  return { ...PATTERN, frames: frames() };
}

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

function createFfmpegMedia(path: string, environment: NodeJS.ProcessEnv): MediaSource {
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
        return await openWithFfmpeg(path, children, close);
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

async function openWithFfmpeg(
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
  /** Returns why ffmpeg failed; undefined while it runs, or when it has succeeded. */
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
