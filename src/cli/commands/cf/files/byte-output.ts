import type { Writable } from 'node:stream';

/** Gathers small writes into large ones, because a write for each of a million lines would take most of the time. */
export type ByteOutput = {
  readonly isEmpty: () => boolean;
  readonly bytes: (source: Uint8Array, start: number, end: number) => void;
  readonly text: (text: string) => void;
  /** Writes the gathered bytes, and waits until the stream has accepted them. Rejects with the stream's error. */
  readonly flush: () => Promise<void>;
};

const INITIAL_BYTES = 256 * 1024;
/** UTF-8 needs at most three bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
/** A call of the native copy takes as long as copying this many bytes by hand. */
const SHORT = 48;

export function createByteOutput(stream: Writable): ByteOutput {
  let buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  let length = 0;
  const reserve = (count: number): void => {
    if (length + count <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + count));
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  };
  return {
    isEmpty: () => length === 0,
    bytes: (source, start, end) => {
      const count = end - start;
      reserve(count);
      if (count <= SHORT)
        for (let at = 0; at < count; at++) buffer[length + at] = source[start + at] as number;
      else buffer.set(source.subarray(start, end), length);
      length += count;
    },
    text: (text) => {
      reserve(text.length * MAX_BYTES_PER_UNIT);
      length += buffer.write(text, length, 'utf8');
    },
    flush: async () => {
      if (length === 0) return;
      const gathered = buffer.subarray(0, length);
      length = 0;
      // The buffer may be reused only after the stream has finished with it.
      await new Promise<void>((resolve, reject) =>
        stream.write(gathered, (error) => (error ? reject(error) : resolve())),
      );
    },
  };
}
