import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ServedConnections } from './limit-pipelining.ts';

/*
 * Closes idle connections when many are open. Node refuses every new connection at `maxConnections`, so that someone who
 * opens that many and sends nothing would lock all other callers out. Closing the oldest idle connection instead leaves
 * room for callers who send a request when they connect. If none is idle, a connection whose response is not read is closed.
 */

/** Connections that are looked at for each new one, so that a crowd of busy connections costs little. */
const MAX_LOOKED_AT = 64;

export type ConnectionLimit = {
  /** Idle and unread connections are closed when more are open. Node's `maxConnections` has to be several hundred higher: it counts a connection until it has been closed. */
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
