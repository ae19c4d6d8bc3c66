import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createFfmpegMedia } from './ffmpeg-media.ts';
import { frameLength, type Media, type MediaSource, type Picture, type Sound } from './media.ts';
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
