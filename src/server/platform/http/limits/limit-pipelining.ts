import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/*
 * Limits how many requests of one connection are served at a time. HTTP/1.1 allows clients to send requests without reading
 * the responses, and Node emits all requests of a received chunk at once. Without a limit one unread connection keeps the
 * event loop busy and its responses in memory. Further requests wait until earlier responses have been sent, and the socket
 * is not read in the meantime.
 */

const MAX_CONCURRENT_REQUESTS = 16;

type Serve = (request: IncomingMessage, response: ServerResponse) => void;
type Waiting = { readonly request: IncomingMessage; readonly response: ServerResponse };
type ConnectionState = { running: number; readonly waiting: Waiting[] };

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
  const serve: Serve = (request, response) => {
    for (const listener of listeners) Reflect.apply(listener, server, [request, response]);
  };
  const connections = new WeakMap<Duplex, ConnectionState>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    let state = connections.get(socket);
    if (state === undefined) {
      state = { running: 0, waiting: [] };
      connections.set(socket, state);
    }
    const current = state;
    response.on('close', () => {
      current.running -= 1;
      serveNext(socket, current, serve);
    });
    current.waiting.push({ request, response });
    serveNext(socket, current, serve);
    if (current.waiting.length > 0) socket.pause();
  });
  return {
    hasRequested: (socket) => connections.has(socket),
    isServing: (socket) => {
      const state = connections.get(socket);
      return state !== undefined && state.running + state.waiting.length > 0;
    },
  };
}

function serveNext(socket: Duplex, state: ConnectionState, serve: Serve): void {
  if (socket.destroyed) {
    state.waiting.length = 0;
    return;
  }
  const wasWaiting = state.waiting.length > 0;
  while (state.running < MAX_CONCURRENT_REQUESTS) {
    const next = state.waiting.shift();
    if (next === undefined) break;
    state.running += 1;
    serve(next.request, next.response);
  }
  if (wasWaiting && state.waiting.length === 0) socket.resume();
}
