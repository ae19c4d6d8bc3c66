import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { codeOfError } from '../../../contract/unknown-value.ts';
import type { FileLocation } from '../../recordings/files/recording-files.ts';
import { type ReadDeps, readWithRetry } from './read-with-retry.ts';

/*
 * Serves one recording to one ffmpeg process by HTTP on loopback, at an unguessable path, while it is decoded. A pipe
 * would not do, because ffmpeg must seek: MP4 may have its index at the end. ffmpeg sees neither a pre-signed URL nor
 * the name of a room.
 */
export type FileFeed = {
  readonly url: string;
  /** ffmpeg's current read position, as a share of the file. */
  readonly share: () => number;
  /** The error that made the feed fail, if any. */
  readonly failure: () => unknown;
  close(): Promise<void>;
};

export type FeedRequest = {
  readonly location: FileLocation;
  readonly sizeBytes: number;
  readonly signal: AbortSignal;
};

export async function startFeed(deps: ReadDeps, request: FeedRequest): Promise<FileFeed> {
  const path = `/${randomBytes(24).toString('base64url')}`;
  const state: FeedState = { position: 0, failure: undefined };
  const closing = new AbortController();
  const signal = AbortSignal.any([request.signal, closing.signal]);
  const server = createServer((incoming, response) => {
    if (incoming.url !== path) {
      response.writeHead(404).end();
      return;
    }
    serve(deps, { ...request, signal }, { incoming, response, state }).catch((error: unknown) => {
      // ffmpeg closes the connection in order to seek, which is no error.
      if (!signal.aborted && !isHangUp(error)) state.failure ??= error;
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    share: () => state.position / request.sizeBytes,
    failure: () => state.failure,
    close: async () => {
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type FeedState = { position: number; failure: unknown };

type Exchange = {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly state: FeedState;
};

async function serve(
  deps: ReadDeps,
  feed: FeedRequest,
  { incoming, response, state }: Exchange,
): Promise<void> {
  const { location, sizeBytes: end, signal } = feed;
  const start = Number(/^bytes=(\d+)-/.exec(incoming.headers.range ?? '')?.[1] ?? 0);
  if (start >= end) {
    response.writeHead(416, { 'content-range': `bytes */${end}` }).end();
    return;
  }
  const isPartial = incoming.headers.range !== undefined;
  response.writeHead(isPartial ? 206 : 200, {
    'content-type': 'application/octet-stream',
    'content-length': end - start,
    'accept-ranges': 'bytes',
    ...(isPartial ? { 'content-range': `bytes ${start}-${end - 1}/${end}` } : {}),
  });
  state.position = start;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of readWithRetry(deps, { location, start, end, signal })) {
      state.position += piece.length;
      yield piece;
    }
  };
  await pipeline(counted, response);
}

function isHangUp(error: unknown): boolean {
  const code = codeOfError(error);
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'EPIPE' || code === 'ECONNRESET';
}
