import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/*
 * Limits what one connection can make the service do at a time. HTTP/1.1 allows clients to send requests without reading
 * the responses (pipelining), and Node emits all requests of a received chunk at once: up to 2,500 in 64 KiB. Without a
 * limit one connection keeps the event loop busy, and its requests and responses in memory.
 *
 * The first request of a connection is served at once. Requests behind it wait, and the socket is not read in the meantime.
 * All connections with waiting requests take turns, so that a flood of pipelined requests delays no other caller.
 */

const MAX_CONCURRENT_REQUESTS = 16;
/** Waiting requests that are started before the event loop attends to other connections. */
const STARTED_PER_TURN = 16;
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
};

/** State of one connection. */
export type ServedConnections = {
  /** Whether the connection has sent a request, whole or not. */
  readonly hasRequested: (socket: Duplex) => boolean;
  /** Whether a request of the connection is being served or waits to be. */
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
    const connection = { socket, running: 0, waiting: [], isQueued: false };
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

/** Starts the first request of a connection at once, and lets connections with waiting requests take turns. */
class Turns {
  readonly #serve: Serve;
  readonly #queue: Connection[] = [];
  #waitingInAll = 0;
  #isScheduled = false;

  constructor(serve: Serve) {
    this.#serve = serve;
  }

  receive(connection: Connection, received: Received): void {
    const { running, waiting } = connection;
    if (running === 0 && waiting.length === 0) this.#start(connection, received);
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
    if (connection.waiting.length === 0) connection.socket.pause();
    connection.waiting.push(received);
    this.#waitingInAll += 1;
    this.#enqueue(connection);
  }

  #start(connection: Connection, { request, response }: Received): void {
    connection.running += 1;
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
    if (this.#isScheduled || this.#queue.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (const connection of this.#queue.splice(0, STARTED_PER_TURN)) this.#startNext(connection);
      this.#schedule();
    });
  }

  #startNext(connection: Connection): void {
    connection.isQueued = false;
    if (!mayStartWaiting(connection)) return;
    const next = connection.waiting.shift();
    if (next === undefined) return;
    this.#waitingInAll -= 1;
    this.#start(connection, next);
    if (connection.waiting.length === 0) connection.socket.resume();
    else this.#enqueue(connection);
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
