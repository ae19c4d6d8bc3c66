import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createFfmpegMedia } from './ffmpeg-media.ts';
import type { MediaSource, Sound } from './media.ts';
import { createTestPattern } from './test-pattern.ts';
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
