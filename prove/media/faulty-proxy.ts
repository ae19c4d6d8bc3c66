import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { portOf } from '../../test/server/platform/storage/network.ts';

/** What the proxy does to the bytes that the server sends. */
export type ProxyFault =
  | { readonly kind: 'none' }
  /** Delays all bytes. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Forwards the first half of a response, and then nothing more on that connection. */
  | { readonly kind: 'stall' }
  /** Forwards the first half of a response, and then resets the connection. */
  | { readonly kind: 'reset' };

/** A TCP proxy between the service and a server that it needs. */
export type FaultyProxy = {
  readonly port: number;
  /** Sets the fault for all connections, including the open ones. */
  readonly setFault: (fault: ProxyFault) => void;
  readonly close: () => Promise<void>;
};

export async function startFaultyProxy(targetPort: number): Promise<FaultyProxy> {
  const sockets = new Set<Socket>();
  let fault: ProxyFault = { kind: 'none' };
  const server = createServer((clientSocket) => {
    const serverSocket = connect(targetPort, '127.0.0.1');
    join(clientSocket, serverSocket);
    for (const socket of [clientSocket, serverSocket]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    clientSocket.on('data', (bytes) => serverSocket.write(bytes));
    pass(serverSocket, clientSocket, () => fault);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server),
    setFault: (next) => {
      fault = next;
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function join(clientSocket: Socket, serverSocket: Socket): void {
  for (const [socket, other] of [
    [clientSocket, serverSocket] as const,
    [serverSocket, clientSocket] as const,
  ]) {
    socket.on('error', () => {});
    socket.once('close', () => other.destroy());
  }
}

/** Forwards the server's bytes in order, as the current fault allows. */
function pass(serverSocket: Socket, clientSocket: Socket, faultNow: () => ProxyFault): void {
  let sent: Promise<unknown> = Promise.resolve();
  let isStalled = false;
  serverSocket.on('data', (bytes) => {
    if (isStalled) return;
    const fault = faultNow();
    if (fault.kind === 'none' || fault.kind === 'delay') {
      const due = delay(fault.kind === 'delay' ? fault.ms : 0);
      sent = sent.then(() => due).then(() => clientSocket.write(bytes));
      return;
    }
    isStalled = true;
    const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
    sent = sent.then(() =>
      clientSocket.write(half, () => fault.kind === 'reset' && clientSocket.resetAndDestroy()),
    );
  });
}
