import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ServedConnections } from './limit-pipelining.ts';

/*
 * Closes idle connections when many are open. Node refuses every new connection at `maxConnections`, so that someone who
 * opens that many and sends nothing would lock all other callers out. Closing the oldest idle connection instead leaves
 * room for callers who send a request when they connect.
 */

/** Connections that are looked at for each new one, so that a crowd of busy connections costs little. */
const MAX_LOOKED_AT = 64;

export type ConnectionLimit = {
  /** Idle connections are closed above it. Node's `maxConnections` has to be several hundred higher: it counts a connection until it has been closed. */
  readonly maxOpen: number;
  readonly connections: ServedConnections;
};

export function limitConnections(server: Server, { maxOpen, connections }: ConnectionLimit): void {
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
    if (silent.size + known.size <= maxOpen) return;
    const idle = findSilent(socket) ?? findIdle();
    if (idle === undefined) return;
    // It is closed a moment later, and must not be chosen again until then.
    forget(idle);
    idle.destroy();
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

  /** Moves those that are busy to the end. */
  function findIdle(): Socket | undefined {
    let lookedAt = 0;
    for (const socket of known) {
      if (!connections.isServing(socket)) return socket;
      lookedAt += 1;
      if (lookedAt > MAX_LOOKED_AT) return undefined;
      known.delete(socket);
      known.add(socket);
    }
    return undefined;
  }
}
