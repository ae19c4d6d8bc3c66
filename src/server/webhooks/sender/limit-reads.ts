import type { Socket } from 'node:net';

/*
 * Limits the work that the receiver of a webhook can cause by what it sends. undici parses everything that has arrived,
 * even if it has given the response up: then it makes an error for each further header, thousands in 64 KiB. It also reads
 * bytes without end that belong to no response, such as empty lines and extensions of chunks.
 */

/** Maximum bytes that are parsed at a time. */
const PIECE_BYTES = 4096;
/** Maximum bytes of a connection within a time. A response has at most 20 KB, of which a connection carries many. */
const MAX_BYTES = 16 * 1024 * 1024;
const WINDOW_MS = 10_000;

/** Code of the error that ends the connection. */
export const TOO_MANY_BYTES = 'ERR_TOO_MANY_BYTES';

/** Limits what one call of `read`, and all calls within a window, return. */
export function limitReads(socket: Socket, maxBytes = MAX_BYTES): void {
  const read = socket.read.bind(socket);
  let windowStart = performance.now();
  let bytes = 0;
  socket.read = (size) => {
    const piece: Buffer | null = read(
      size ?? (socket.readableLength > PIECE_BYTES ? PIECE_BYTES : undefined),
    );
    if (piece === null) return null;
    const now = performance.now();
    if (now - windowStart > WINDOW_MS) {
      windowStart = now;
      bytes = 0;
    }
    bytes += piece.length;
    if (bytes <= maxBytes) return piece;
    socket.destroy(Object.assign(new Error('The receiver sends too much.'), { code: TOO_MANY_BYTES }));
    return null;
  };
}
