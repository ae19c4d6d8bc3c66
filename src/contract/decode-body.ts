import { createBrotliDecompress, createGunzip, createInflate, constants as zlib } from 'node:zlib';

/*
 * The beginning of a response body as text. Some receivers and proxies compress even if nobody accepts it. Only the
 * beginning of a body is kept, so it may end anywhere, and a few bytes of it may stand for gigabytes.
 */

const PIECE_BYTES = 4096;

/** Decoders of what is cut off: they return what they have at its end instead of failing. */
const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & { destroy(): unknown }>> = {
  gzip: () => createGunzip({ chunkSize: PIECE_BYTES, finishFlush: zlib.Z_SYNC_FLUSH }),
  'x-gzip': () => createGunzip({ chunkSize: PIECE_BYTES, finishFlush: zlib.Z_SYNC_FLUSH }),
  deflate: () => createInflate({ chunkSize: PIECE_BYTES, finishFlush: zlib.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ chunkSize: PIECE_BYTES, finishFlush: zlib.BROTLI_OPERATION_FLUSH }),
};

/** Returns at most `maxBytes` of the body as text; a note of its coding if it cannot be decoded. */
export async function decodeBody(
  body: Uint8Array,
  coding: string | readonly string[] | undefined,
  maxBytes: number,
): Promise<string> {
  const name = String(coding ?? 'identity')
    .trim()
    .toLowerCase();
  if (name === 'identity' || name === '' || body.length === 0) return toText(body, maxBytes);
  const decoder = DECODERS[name]?.();
  const decoded = decoder === undefined ? undefined : await readStart(decoder, body, maxBytes);
  return decoded === undefined
    ? `(${body.length} bytes of content-encoding ${name})`
    : toText(decoded, maxBytes);
}

async function readStart(
  decoder: NodeJS.ReadWriteStream & { destroy(): unknown },
  body: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  decoder.end(body);
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      pieces.push(piece);
      size += piece.length;
      // Leaving the loop destroys the decoder.
      if (size >= maxBytes) break;
    }
  } catch {
    if (size === 0) return undefined;
  }
  return Buffer.concat(pieces);
}

function toText(bytes: Uint8Array, maxBytes: number): string {
  const kept = bytes.subarray(0, maxBytes);
  return Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength).toString('utf8');
}
