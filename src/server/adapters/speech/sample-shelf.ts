import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SampleShelf, ShelvedSamples } from '../../ports/sample-shelf.ts';

/**
 * A file without a name in the folder for temporary files: nobody else can open it, and it is gone with the process,
 * however that ends. It is cut to nothing whenever all of it has been taken.
 */
export function createSampleShelf(folder = tmpdir()): SampleShelf {
  let ready: Promise<FileHandle> | undefined;
  let end = 0;
  let shelved = 0;

  const openOnce = (): Promise<FileHandle> => {
    const opening = ready ?? openNameless(join(folder, `rtc-speech-${randomUUID()}`));
    ready = opening;
    return opening.catch((error: unknown) => {
      if (ready === opening) ready = undefined;
      throw error;
    });
  };
  /** Who comes next waits for the cut: it would take away what they write. */
  const leave = (file: FileHandle): void => {
    shelved -= 1;
    if (shelved > 0) return;
    end = 0;
    ready = file.truncate(0).then(() => file);
    ready.catch(() => {});
  };

  return {
    put: async (samples): Promise<ShelvedSamples> => {
      const { length } = samples;
      const position = end;
      end += samples.byteLength;
      shelved += 1;
      const file = await openOnce().catch((error: unknown) => {
        shelved -= 1;
        throw error;
      });
      await writeAll(file, samples, position).catch((error: unknown) => {
        leave(file);
        throw error;
      });
      return {
        take: () => readAll(file, length, position).finally(() => leave(file)),
      };
    },
    close: async () => {
      const opened = ready;
      ready = undefined;
      await (await opened)?.close();
    },
  };
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
