import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../../platform/log.ts';
import type { VoicedSegment } from '../engines/speech.ts';

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

type WaitingSegmentsDeps = {
  readonly log: Log;
  /** How many segments of all tracks wait. */
  readonly queue: { readonly waiting: number };
  readonly spillFile: AudioSpillFile;
};

/** Further waiting segments are spilled to disk. One segment takes up to half a megabyte. */
const MAX_WAITING_IN_MEMORY = 40;

/** Holds the segments of a track that wait for recognition, in memory or on disk: no final segment is ever dropped. */
export class WaitingSegments {
  readonly #deps: WaitingSegmentsDeps;
  /** Segments on disk that have not been recognised yet. */
  readonly #spilled = new Set<Promise<SpilledBuffer>>();

  constructor(deps: WaitingSegmentsDeps) {
    this.#deps = deps;
  }

  /** Returns a function that reads the segment when its turn has come. It may be called once. */
  hold(segment: VoicedSegment): () => Promise<VoicedSegment> {
    if (this.#deps.queue.waiting < MAX_WAITING_IN_MEMORY) return inMemory(segment);
    const { start } = segment;
    const spilled = spillToDisk(this.#deps, segment.samples);
    this.#spilled.add(spilled);
    // The closure must not capture `segment`: that would hold its samples in memory as long as it waits.
    return async () => {
      this.#spilled.delete(spilled);
      const { read } = await spilled;
      return { start, samples: await read() };
    };
  }

  /** Frees the space of the segments on disk that are still waiting. */
  close(): void {
    for (const spilled of this.#spilled) void spilled.then(({ discard }) => discard());
    this.#spilled.clear();
  }
}

function inMemory(segment: VoicedSegment): () => Promise<VoicedSegment> {
  return async () => segment;
}

async function spillToDisk(
  { spillFile, log }: Pick<WaitingSegmentsDeps, 'spillFile' | 'log'>,
  samples: Float32Array,
): Promise<SpilledBuffer> {
  try {
    return await spillFile.write(samples);
  } catch (error) {
    log.warn({ err: error }, 'recognition is behind, and waiting samples cannot be written to disk');
    return { read: async () => samples, discard: () => {} };
  }
}
