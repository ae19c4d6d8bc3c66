import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, reasonPhrase, ServiceError } from '../../../../contract/errors.ts';
import { buildProblem, PROBLEM_CONTENT_TYPE, SECURITY_HEADERS } from '../send-error.ts';

/*
 * Limits what one connection can make the service do at a time. HTTP/1.1 allows clients to send requests without reading
 * the responses (pipelining), and Node emits all requests of a received chunk at once: up to 2,500 in 64 KiB. Without a
 * limit one connection keeps the event loop busy, and its requests and responses in memory.
 *
 * The first request of a connection is served at once, unless others have begun in the same turn of the event loop. Requests
 * behind it wait, and the socket is not read in the meantime. All connections with waiting requests take turns, so that neither
 * a flood of pipelined requests nor many connections of one caller delay others. Node accepts one new connection in a turn: a
 * turn that serves everyone who has asked lets new callers wait for as many turns as there are before them.
 */

const MAX_CONCURRENT_REQUESTS = 16;

/** Requests that are started before the event loop attends to new connections and to what runs. */
const STARTED_PER_TURN = 8;

/** No further request is started while more than this is unsent: the caller does not keep up. */
const MAX_UNSENT_BYTES = 64 * 1024;

/** A connection is closed when its next request would exceed either. A waiting request takes 3 KB. */
const MAX_WAITING_REQUESTS = { ofConnection: 100, inAll: 4_000 } as const;

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

type Received = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** Requests of one connection. */
type Connection = {
  readonly socket: Duplex;
  running: number;
  readonly waiting: Received[];
  /** Whether it is in the queue for a turn. */
  isQueued: boolean;
  /** Whether the socket is not read, because requests wait. */
  isPaused: boolean;
};

/** State of one connection. */
type ServedConnections = {
  /** Returns whether the connection has sent a request, whole or not. */
  readonly hasRequested: (socket: Duplex) => boolean;
  /** Returns whether a request of the connection is being served or waits to be. */
  readonly isServing: (socket: Duplex) => boolean;
};

/** Puts the limit before the server's request listeners. Must be called before further listeners are added. */
export function limitPipelining(server: Server): ServedConnections {
  const listeners = server.rawListeners('request');
  server.removeAllListeners('request');
  const connections = new WeakMap<Duplex, Connection>();
  const turns = new Turns((request, response) => {
    for (const listener of listeners) Reflect.apply(listener, server, [request, response]);
  });
  const open = (socket: Duplex): Connection => {
    const connection = { socket, running: 0, waiting: [], isQueued: false, isPaused: false };
    connections.set(socket, connection);
    socket.once('close', () => turns.forget(connection));
    return connection;
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    // Requests of the same chunk may follow the one that has made the connection be closed.
    if (socket.destroyed) return;
    turns.receive(connections.get(socket) ?? open(socket), { request, response });
  });
  return {
    hasRequested: (socket) => connections.has(socket),
    isServing: (socket) => {
      const connection = connections.get(socket);
      return connection !== undefined && connection.running + connection.waiting.length > 0;
    },
  };
}

/** Starts the first request of a connection at once if it may, and lets connections with waiting requests take turns. */
class Turns {
  readonly #serve: Serve;
  readonly #queue: Connection[] = [];
  #waitingInAll = 0;
  #startedInTurn = 0;
  #isScheduled = false;

  constructor(serve: Serve) {
    this.#serve = serve;
  }

  receive(connection: Connection, received: Received): void {
    const { running, waiting } = connection;
    const isFirst = running === 0 && waiting.length === 0;
    if (isFirst && this.#startedInTurn < STARTED_PER_TURN) this.#start(connection, received);
    else if (this.#mayWait(connection)) this.#wait(connection, received);
    else closeUnparsed(connection.socket);
  }

  /** Drops the waiting requests of a connection that has ended. */
  forget({ waiting }: Connection): void {
    this.#waitingInAll -= waiting.length;
    waiting.length = 0;
  }

  #mayWait({ waiting }: Connection): boolean {
    // A caller that does not pipeline may send its next request before the end of a large response is reported.
    if (waiting.length === 0) return true;
    const { ofConnection, inAll } = MAX_WAITING_REQUESTS;
    return waiting.length < ofConnection && this.#waitingInAll < inAll;
  }

  #wait(connection: Connection, received: Received): void {
    // The first request is not a flood, and its body may still be on its way.
    if (connection.running + connection.waiting.length > 0 && !connection.isPaused) {
      connection.isPaused = true;
      connection.socket.pause();
    }
    connection.waiting.push(received);
    this.#waitingInAll += 1;
    this.#enqueue(connection);
  }

  #start(connection: Connection, { request, response }: Received): void {
    connection.running += 1;
    this.#startedInTurn += 1;
    this.#schedule();
    response.on('close', () => {
      connection.running -= 1;
      this.#enqueue(connection);
    });
    this.#serve(request, response);
  }

  #enqueue(connection: Connection): void {
    if (connection.isQueued || !mayStartWaiting(connection)) return;
    connection.isQueued = true;
    this.#queue.push(connection);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#startedInTurn = 0;
      for (const connection of this.#queue.splice(0, STARTED_PER_TURN)) this.#startNext(connection);
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  #startNext(connection: Connection): void {
    connection.isQueued = false;
    if (!mayStartWaiting(connection)) return;
    const next = connection.waiting.shift();
    if (next === undefined) return;
    this.#waitingInAll -= 1;
    this.#start(connection, next);
    if (connection.waiting.length > 0) this.#enqueue(connection);
    else if (connection.isPaused) {
      connection.isPaused = false;
      connection.socket.resume();
    }
  }
}

/**
 * Closes a connection, and drops the requests of the received chunk that are not parsed yet. Node has no method for that
 * and would parse all of them, which takes seconds when hundreds of connections send a chunk at the same time. The
 * parser's handler tells the parser to stop when it returns 2. If a version of Node has no such handler, all are parsed.
 */
function closeUnparsed(socket: Duplex): void {
  socket.destroy();
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null)
    Object.assign(parser, { onIncoming: () => STOP_PARSING });
}

const STOP_PARSING = 2;

function mayStartWaiting({ socket, running, waiting }: Connection): boolean {
  if (waiting.length === 0 || socket.destroyed) return false;
  return running === 0 || (running < MAX_CONCURRENT_REQUESTS && socket.writableLength <= MAX_UNSENT_BYTES);
}

/*
 * Closes idle connections when many are open. Node refuses every new connection at `maxConnections`, so that someone who
 * opens that many and sends nothing would lock all other callers out. Closing the oldest idle connection instead leaves
 * room for callers who send a request when they connect. If none is idle, a connection whose response is not read is closed.
 */

/** Connections that are looked at for each new one, so that a crowd of busy connections costs little. */
const MAX_LOOKED_AT = 64;

type ConnectionLimit = {
  /**
   * Idle and unread connections are closed when more are open. Node's `maxConnections` has to be several hundred higher: it
   * counts a connection until it has been closed.
   */
  readonly maxOpen: number;
  /** The oldest connection that has sent nothing yet is closed when there are more of them. */
  readonly maxSilent: number;
  readonly connections: ServedConnections;
};

export function limitConnections(server: Server, { maxOpen, maxSilent, connections }: ConnectionLimit): void {
  // In the order of their age. Connections that never sent a request come first.
  const silent = new Set<Socket>();
  const known = new Set<Socket>();
  const forget = (socket: Socket): void => {
    silent.delete(socket);
    known.delete(socket);
  };
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => forget(socket));
    const isFull = silent.size + known.size > maxOpen;
    if (!isFull && silent.size <= maxSilent) return;
    const closable = findSilent(socket) ?? (isFull ? findClosable() : undefined);
    if (closable === undefined) return;
    // It is closed a moment later, and must not be chosen again until then.
    forget(closable);
    closable.destroy();
  });

  /** Moves those that have sent a request to the others. */
  function findSilent(newest: Socket): Socket | undefined {
    for (const socket of silent) {
      if (socket === newest) return undefined;
      if (!connections.hasRequested(socket)) return socket;
      silent.delete(socket);
      known.add(socket);
    }
    return undefined;
  }

  /** An idle one; otherwise one whose caller does not read its response. Moves those that are busy to the end. */
  function findClosable(): Socket | undefined {
    let unread: Socket | undefined;
    let lookedAt = 0;
    for (const socket of known) {
      if (!connections.isServing(socket)) return socket;
      if (socket.writableLength > 0) unread ??= socket;
      lookedAt += 1;
      if (lookedAt > MAX_LOOKED_AT) return unread;
      known.delete(socket);
      known.add(socket);
    }
    return unread;
  }
}

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
