import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type AudioSpillFileSettings = {
  /** Default: the folder for temporary files (TMPDIR). */
  readonly folder?: string;
  readonly volumeBytes?: number;
};

/**
 * Maximum size of one file. Buffers are read in about the order in which they were written, so a full file is soon unneeded
 * and removed.
 */
const VOLUME_BYTES = 64 * 1024 * 1024;

/**
 * Spills samples to unlinked files: no other process can open them, and they disappear with this process, however it
 * ends. A full file is followed by another, and a file whose buffers were all read is closed. A long-running queue
 * therefore takes no more disk space than its content and two files.
 */
export function createAudioSpillFile({
  folder = tmpdir(),
  volumeBytes = VOLUME_BYTES,
}: AudioSpillFileSettings = {}): AudioSpillFile {
  const volumes = new Set<Volume>();
  let latest: Volume | undefined;

  const volumeFor = (): Volume => {
    if (latest !== undefined && latest.end < volumeBytes) return latest;
    const file = openNameless(join(folder, `rtc-speech-${randomUUID()}`));
    // The write below reports the error.
    file.catch(() => {});
    latest = { file, end: 0, unread: 0 };
    volumes.add(latest);
    return latest;
  };
  const release = (volume: Volume): void => {
    volume.unread -= 1;
    if (volume.unread > 0) return;
    if (latest === volume) latest = undefined;
    if (volumes.delete(volume)) void closeFile(volume);
  };

  return {
    write: async (samples): Promise<SpilledBuffer> => {
      const { length } = samples;
      const volume = volumeFor();
      const position = volume.end;
      volume.end += samples.byteLength;
      volume.unread += 1;
      try {
        await writeAll(await volume.file, samples, position);
      } catch (error) {
        release(volume);
        throw error;
      }
      const read = async () => await readAll(await volume.file, length, position);
      return {
        read: () => read().finally(() => release(volume)),
        discard: () => release(volume),
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
  /** Position of the next buffer. */
  end: number;
  /** Number of buffers that were neither read nor discarded. */
  unread: number;
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

/** A write may be partial when the disk is nearly full; the next write then reports the error. */
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
    if (bytesRead === 0) throw new Error('The spilled samples are no longer in the file.');
    filled += bytesRead;
  }
  return samples;
}

/** Holds samples on disk instead of in memory while they wait for recognition. Only this process can read them. */
export interface AudioSpillFile {
  /** Rejects when the disk is full. */
  write(samples: Float32Array): Promise<SpilledBuffer>;
  close(): Promise<void>;
}

export type SpilledBuffer = {
  /** Returns the samples and frees their space. May be called once. */
  readonly read: () => Promise<Float32Array>;
  /** Frees the space of samples that will not be read. */
  readonly discard: () => void;
};
