import { isAscii, isUtf8 } from 'node:buffer';

export type Encoding = 'UTF-8' | 'Windows-1252' | 'UTF-16LE' | 'UTF-16BE';

export type TextReader = {
  readonly decode: (chunk: Uint8Array) => string;
  readonly end: () => string;
  /** The encoding that was detected so far. */
  readonly encoding: () => Encoding;
};

/**
 * Decodes bytes of unknown encoding: UTF-16 if there is a byte order mark; else UTF-8; or Windows-1252, which spreadsheets
 * in Italy still write, when the first bytes beyond ASCII are not UTF-8. A byte order mark at the beginning is left out.
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
        // The chunk has only the beginning of a character, so the next one decides.
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

/** The length without a character of UTF-8 that is cut at the end. */
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
