import type { Socket } from 'node:net';

/*
 * Limits the work that the receiver of a webhook can cause by what it sends. undici parses everything that has arrived,
 * even if it has given the response up: then it makes an error for each further header or trailer of the piece, which takes
 * longer than all else. It also reads bytes without end that belong to no response, such as empty lines and extensions of
 * chunks.
 */

/** Maximum bytes that are parsed at a time. Nearly all responses are smaller. */
const PIECE_BYTES = 4096;
/** The same for what follows the first piece. Headers and trailers are given up after 16 KiB, somewhere inside a piece. */
const FURTHER_PIECE_BYTES = 256;
/** Maximum bytes that a connection returns for each request: a response of at most 20 KiB, and interim ones before it. */
const MAX_BYTES = 64 * 1024;

/** Code of the error that ends the connection. */
export const TOO_MANY_BYTES = 'ERR_TOO_MANY_BYTES';

/** Limits what one call of `read`, and all calls from one request to the next, return. */
export function limitReads(socket: Socket, maxBytes = MAX_BYTES): void {
  const read = socket.read.bind(socket);
  let written = 0;
  let bytes = 0;
  socket.read = (size) => {
    // undici gives a response up by closing its connection, and would go on to read what has arrived.
    if (socket.destroyed) return null;
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      bytes = 0;
    }
    const limit = bytes < PIECE_BYTES ? PIECE_BYTES : FURTHER_PIECE_BYTES;
    const piece: Buffer | null = read(size ?? (socket.readableLength > limit ? limit : undefined));
    if (piece === null) return null;
    bytes += piece.length;
    if (bytes <= maxBytes) return piece;
    socket.destroy(Object.assign(new Error('The receiver sends too much.'), { code: TOO_MANY_BYTES }));
    return null;
  };
}
