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
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    join(near, far);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    near.on('data', (bytes) => far.write(bytes));
    pass(far, near, () => fault);
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

function join(near: Socket, far: Socket): void {
  for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
    socket.on('error', () => {});
    socket.once('close', () => other.destroy());
  }
}

/** Forwards the server's bytes in order, as the current fault allows. */
function pass(far: Socket, near: Socket, faultNow: () => ProxyFault): void {
  let sent: Promise<unknown> = Promise.resolve();
  let isStalled = false;
  far.on('data', (bytes) => {
    if (isStalled) return;
    const fault = faultNow();
    if (fault.kind === 'none' || fault.kind === 'delay') {
      const due = delay(fault.kind === 'delay' ? fault.ms : 0);
      sent = sent.then(() => due).then(() => near.write(bytes));
      return;
    }
    isStalled = true;
    const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
    sent = sent.then(() => near.write(half, () => fault.kind === 'reset' && near.resetAndDestroy()));
  });
}
