import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';

/*
 * Writes a WAV file of one channel while it grows. Until the end its header has an unknown length, so that the file of a
 * killed process can be played too.
 */

export type WavWriter = {
  write(samples: Int16Array): void;
  /** Resolves when everything is in the file. Rejects with the first write error. */
  close(): Promise<void>;
};

const HEADER_BYTES = 44;
const UNKNOWN_LENGTH = 0xffffffff;

/** Writes to a stream, such as a pipe that another program reads. */
export function createWavStream(stream: Writable, sampleRate: number): WavWriter {
  stream.write(header(sampleRate, UNKNOWN_LENGTH));
  return {
    write: (samples) => void stream.write(toBytes(samples)),
    close: () => new Promise((resolve) => stream.write('', () => resolve())),
  };
}

/**
 * Creates a new file. Rejects with EEXIST when it exists. `onError` is called with the first error, such as a full disk.
 */
export async function createWavFile(
  path: string,
  { sampleRate, onError }: { readonly sampleRate: number; readonly onError: (error: Error) => void },
): Promise<WavWriter> {
  const file = await open(path, 'wx');
  await file.write(header(sampleRate, UNKNOWN_LENGTH));
  let length = 0;
  let failure: Error | undefined;
  let writing = Promise.resolve();
  const enqueue = (write: () => Promise<void>): void => {
    writing = writing.then(async () => {
      if (failure !== undefined) return;
      try {
        await write();
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
        onError(failure);
      }
    });
  };
  return {
    write: (samples) =>
      enqueue(async () => {
        const bytes = toBytes(samples);
        await writeAll(file, bytes, HEADER_BYTES + length);
        length += bytes.length;
      }),
    close: async () => {
      enqueue(() => writeAll(file, header(sampleRate, Math.min(length, UNKNOWN_LENGTH)), 0));
      await writing;
      await file.close();
      if (failure !== undefined) throw failure;
    },
  };
}

/** Repeats partial writes. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

function toBytes(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

function header(sampleRate: number, dataBytes: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(Math.min(dataBytes + HEADER_BYTES - 8, UNKNOWN_LENGTH), 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(sampleRate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(dataBytes, 40);
  return bytes;
}
