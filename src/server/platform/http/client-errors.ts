import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, reasonPhrase, ServiceError } from '../../../contract/errors.ts';
import { buildProblem, PROBLEM_CONTENT_TYPE, SECURITY_HEADERS } from './send-error.ts';

/*
 * Responses to errors that Node finds before there is a request object: malformed HTTP, oversized headers, a request that
 * does not arrive in time, CONNECT. These responses are problems too, and are written directly to the socket.
 */

const CODE_OF_CLIENT_ERROR: Readonly<Record<string, readonly [code: ErrorCode, detail: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers-too-large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request-timeout', 'The request did not arrive in time.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload-too-large', 'The chunk extensions are too large.'],
};

/** Errors of Node's HTTP parser also have a reason in words. */
type ParserError = NodeJS.ErrnoException & { readonly reason?: string };

function toProblem({ code = '', reason }: ParserError): ServiceError {
  // The parser has the same code for contradictory lengths, which are malformed.
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && reason?.includes('invalid')) {
    const detail = 'The transfer coding is not supported; only chunked is.';
    return new ServiceError('transfer-coding-unknown', detail);
  }
  const [errorCode, detail] = CODE_OF_CLIENT_ERROR[code] ?? [
    'invalid-request' as const,
    'The request is not well-formed HTTP.',
  ];
  return new ServiceError(errorCode, detail);
}

export function handleClientErrors(server: Server, nextRequestId: () => string): void {
  const afterResponses = trackResponses(server);
  server.on('clientError', (error: ParserError, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else afterResponses(socket, () => writeProblem(socket, toProblem(error), nextRequestId()));
  });
  // An unknown Expect header is ignored. Node would reject the request with an empty 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => {
    // Node has removed its own error listener, and an unhandled connection reset would end the process.
    socket.on('error', () => socket.destroy());
    const error = new ServiceError('method-not-allowed', 'CONNECT is not served here.');
    afterResponses(socket, () => writeProblem(socket, error, nextRequestId()));
  });
}

/**
 * Returns a function that calls `write` after the responses to all complete requests of the socket. Written earlier,
 * the problem would corrupt a response or be taken for one. An incomplete request gets no response to wait for.
 */
function trackResponses(server: Server): (socket: Duplex, write: () => void) => void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const waiting = new WeakSet<Duplex>();
  server.on('request', ({ socket }, response) => latest.set(socket, response));
  return (socket, write) => {
    // The same malformed bytes may cause further errors; one response is enough.
    if (waiting.has(socket)) return;
    const response = latest.get(socket);
    if (response === undefined || !response.req.complete || response.closed) return write();
    waiting.add(socket);
    socket.pause();
    response.once('close', () => {
      // A paused socket does not notice that the other side has closed.
      socket.resume();
      write();
    });
  };
}

/** Time for the client to read the problem. A client that never closes must not hold its connection. */
const LINGER_MS = 1000;

function writeProblem(socket: Duplex, error: ServiceError, requestId: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(buildProblem(error, requestId));
  const head = [
    `HTTP/1.1 ${error.status} ${reasonPhrase(error.status)}`,
    `Content-Type: ${PROBLEM_CONTENT_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ].join('\r\n');
  socket.end(`${head}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
