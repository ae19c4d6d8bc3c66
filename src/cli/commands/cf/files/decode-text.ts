import { isAscii, isUtf8 } from 'node:buffer';

export type Encoding = 'UTF-8' | 'Windows-1252' | 'UTF-16LE' | 'UTF-16BE';

export type TextReader = {
  readonly decode: (chunk: Uint8Array) => string;
  readonly end: () => string;
  /** What the text was read as so far. */
  readonly encoding: () => Encoding;
};

/**
 * Text of bytes whose encoding is not known: UTF-16 by its mark; else UTF-8, unless the first bytes beyond ASCII are none,
 * which makes it Windows-1252, as spreadsheets in Italy still write it. A mark at the beginning is left out.
 */
export function createTextReader(): TextReader {
  let encoding: Encoding = 'UTF-8';
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let isFirst = true;
  let held = new Uint8Array(0);
  return {
    decode: (chunk) => {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      held = new Uint8Array(0);
      if (decoder === undefined) {
        const marked = isFirst ? encodingOfMark(bytes) : undefined;
        isFirst = false;
        if (marked === undefined && isAscii(bytes)) return asciiText(bytes);
        const complete = completeLength(bytes);
        // Only the beginning of a character: more of it decides.
        if (marked === undefined && isAscii(bytes.subarray(0, complete))) {
          held = bytes.slice(complete);
          return asciiText(bytes.subarray(0, complete));
        }
        encoding = marked ?? (isUtf8(bytes.subarray(0, complete)) ? 'UTF-8' : 'Windows-1252');
        decoder = new TextDecoder(encoding);
      }
      return decoder.decode(bytes, { stream: true });
    },
    end: () => {
      if (decoder !== undefined) return decoder.decode();
      if (held.length === 0) return '';
      encoding = 'Windows-1252';
      return new TextDecoder(encoding).decode(held);
    },
    encoding: () => encoding,
  };
}

function asciiText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function encodingOfMark([first, second]: Uint8Array): Encoding | undefined {
  if (first === 0xff && second === 0xfe) return 'UTF-16LE';
  return first === 0xfe && second === 0xff ? 'UTF-16BE' : undefined;
}

/** The length without a character of UTF-8 that the end cuts in two. */
function completeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
