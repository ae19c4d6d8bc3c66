import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SampleShelf, ShelvedSamples } from './audio-spill.ts';

export type SampleShelfSettings = {
  /** The folder for temporary files unless said otherwise: TMPDIR. */
  readonly folder?: string;
  readonly volumeBytes?: number;
};

/** What is put away one after the other is taken so too: a file that is full is gone before long. */
const VOLUME_BYTES = 64 * 1024 * 1024;

/**
 * Files without a name: nobody else can open them, and they are gone with the process, however that ends. One that is
 * full is followed by another, and one that is empty again is closed, so that a queue that never ends takes no more
 * room than what is in it and two files.
 */
export function createSampleShelf({
  folder = tmpdir(),
  volumeBytes = VOLUME_BYTES,
}: SampleShelfSettings = {}): SampleShelf {
  const volumes = new Set<Volume>();
  let latest: Volume | undefined;

  const volumeFor = (): Volume => {
    if (latest !== undefined && latest.end < volumeBytes) return latest;
    const file = openNameless(join(folder, `rtc-speech-${randomUUID()}`));
    // Whoever writes to it is told.
    file.catch(() => {});
    latest = { file, end: 0, kept: 0 };
    volumes.add(latest);
    return latest;
  };
  const leave = (volume: Volume): void => {
    volume.kept -= 1;
    if (volume.kept > 0) return;
    if (latest === volume) latest = undefined;
    if (volumes.delete(volume)) void closeFile(volume);
  };

  return {
    put: async (samples): Promise<ShelvedSamples> => {
      const { length } = samples;
      const volume = volumeFor();
      const position = volume.end;
      volume.end += samples.byteLength;
      volume.kept += 1;
      try {
        await writeAll(await volume.file, samples, position);
      } catch (error) {
        leave(volume);
        throw error;
      }
      return {
        take: async () => {
          try {
            return await readAll(await volume.file, length, position);
          } finally {
            leave(volume);
          }
        },
        drop: () => leave(volume),
      };
    },
    close: async () => {
      const open = [...volumes];
      volumes.clear();
      latest = undefined;
      await Promise.all(open.map(closeFile));
    },
  };
}

type Volume = {
  readonly file: Promise<FileHandle>;
  /** Where the next one begins. */
  end: number;
  /** How many have neither been taken nor dropped. */
  kept: number;
};

async function closeFile({ file }: Volume): Promise<void> {
  const opened = await file.catch(() => undefined);
  await opened?.close();
}

async function openNameless(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/** The system writes less than it is asked to where the disk ends; the rest then says why. */
async function writeAll(file: FileHandle, samples: Float32Array, position: number): Promise<void> {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

async function readAll(file: FileHandle, length: number, position: number): Promise<Float32Array> {
  const samples = new Float32Array(length);
  const bytes = new Uint8Array(samples.buffer);
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, position + filled);
    if (bytesRead === 0) throw new Error('what was put away is no longer there');
    filled += bytesRead;
  }
  return samples;
}
