import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, reasonPhrase, ServiceError } from '../../../contract/errors.ts';
import { PROBLEM_CONTENT_TYPE, problemOf } from './problem-response.ts';

/*
 * What Node answers by itself, before any request object exists: malformed HTTP, oversized headers, a request that
 * does not arrive in time, CONNECT. These are problems too, written to the socket by hand.
 */

const CODE_OF_CLIENT_ERROR: Readonly<Record<string, readonly [code: ErrorCode, detail: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers-too-large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request-timeout', 'The request did not arrive in time.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload-too-large', 'The chunk extensions are too large.'],
};

export function answerClientErrors(server: Server, nextRequestId: () => string): void {
  const afterAnswers = trackAnswers(server);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const [code, detail] = CODE_OF_CLIENT_ERROR[error.code ?? ''] ?? [
      'invalid-request' as const,
      'The request is not well-formed HTTP.',
    ];
    if (error.code === 'ECONNRESET') socket.destroy();
    else afterAnswers(socket, () => writeProblem(socket, new ServiceError(code, detail), nextRequestId()));
  });
  // An expectation that we do not know is no reason to refuse a request; Node would, without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => {
    // Node has taken its own listener away: who resets the connection would end the process.
    socket.on('error', () => socket.destroy());
    const error = new ServiceError('method-not-allowed', 'CONNECT is not served here.');
    afterAnswers(socket, () => writeProblem(socket, error, nextRequestId()));
  });
}

/**
 * A function that calls `write` when the whole requests before have their answers: in the midst of one it would become
 * a part of it, and in its place it would tell that nothing was done. A request that never became whole has none coming.
 */
function trackAnswers(server: Server): (socket: Duplex, write: () => void) => void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const waiting = new WeakSet<Duplex>();
  server.on('request', ({ socket }, response) => latest.set(socket, response));
  return (socket, write) => {
    // What else comes of the same nonsense is not told of again.
    if (waiting.has(socket)) return;
    const response = latest.get(socket);
    if (response === undefined || !response.req.complete || response.closed) return write();
    waiting.add(socket);
    socket.pause();
    response.once('close', () => {
      // Who does not read does not see either that the other side has closed.
      socket.resume();
      write();
    });
  };
}

/** For the problem to be read. Who neither reads it nor closes would keep the connection, and many all that we may have. */
const LINGER_MS = 1000;

function writeProblem(socket: Duplex, error: ServiceError, requestId: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(problemOf(error, requestId));
  const head = [
    `HTTP/1.1 ${error.status} ${reasonPhrase(error.status)}`,
    `Content-Type: ${PROBLEM_CONTENT_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ].join('\r\n');
  socket.end(`${head}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
