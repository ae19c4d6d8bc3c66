import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { Random } from '../../../test/support/random.ts';
import type { HostileFile } from './files.ts';

/** Formats of recordings, and how ffmpeg writes them. */
export const CODECS: Readonly<Record<string, readonly string[]>> = {
  mp4: ['-c:a', 'aac', '-movflags', '+faststart'],
  mkv: ['-c:a', 'libopus'],
  webm: ['-c:a', 'libvorbis'],
  ogg: ['-c:a', 'libopus'],
  mp3: ['-c:a', 'libmp3lame'],
  aac: ['-c:a', 'aac'],
  flac: ['-c:a', 'flac'],
  ts: ['-c:a', 'aac'],
  avi: ['-c:a', 'libmp3lame'],
  flv: ['-c:a', 'libmp3lame'],
  asf: ['-c:a', 'wmav2'],
  wav: ['-c:a', 'pcm_s16le'],
};

const SEED = 20261124;
const CHANGED_BYTES = 60;
/** Headers decide more than sound: two of three changes are in the first bytes. */
const HEAD_BYTES = 3_000;

/** The sentence in each container, by extension. */
export async function encodeSentence(
  path: string,
  folder: string,
  extensions: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const extension of extensions) {
    const codec = CODECS[extension] ?? [];
    const file = join(folder, `container.${extension}`);
    await runFfmpeg(['-i', path, ...codec, '-y', file]);
    files.set(extension, await readFile(file));
  }
  return files;
}

/** Returns each file under a wrong extension, cut off, and `times` times with changed bytes. */
export function alteredFiles(files: ReadonlyMap<string, Buffer>, times: number): readonly HostileFile[] {
  return [...files].flatMap(([extension, bytes], index): readonly HostileFile[] => [
    ...(extension === 'mp4'
      ? []
      : [
          {
            name: `${extension} file under the name of an MP4 file`,
            expected: 'words',
            make: () => bytes,
          } as const,
        ]),
    {
      name: `${extension} file that was cut off`,
      expected: 'any',
      make: () => bytes.subarray(0, Math.floor(bytes.length * 0.6)),
      ...(extension === 'mp4' ? { isQuick: true } : {}),
    },
    ...Array.from({ length: times }, (_, time): HostileFile => {
      const seed = SEED + index * 1_000 + time;
      return {
        name: `${extension} file with changed bytes, seed ${seed}`,
        expected: 'any',
        make: () => changed(bytes, seed),
      };
    }),
  ]);
}

function changed(bytes: Buffer, seed: number): Buffer {
  const random = new Random(seed);
  const copy = Buffer.from(bytes);
  for (let count = 0; count < CHANGED_BYTES; count += 1) {
    const within = count % 3 === 0 ? copy.length : Math.min(HEAD_BYTES, copy.length);
    copy[random.integer(within)] = random.integer(256);
  }
  return copy;
}
