import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** Large enough for a disk, small enough for many readers at once. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Streams a part of an open file, one chunk at a time. Closes the file at the end and when the stream is destroyed. Fails
 * when the file became shorter, so that no reader waits for the rest.
 */
export function readPart(handle: FileHandle, start: number, length: number): Readable {
  const end = start + length;
  let at = start;
  const next = async (): Promise<Buffer | null> => {
    if (at >= end) return null;
    const size = Math.min(CHUNK_BYTES, end - at);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(size), 0, size, at);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    at += bytesRead;
    return buffer.subarray(0, bytesRead);
  };
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      next().then(
        (chunk) => this.push(chunk),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      handle.close().then(
        () => done(error),
        (closing: Error) => done(error ?? closing),
      );
    },
  });
}
