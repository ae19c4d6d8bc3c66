import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { portOf } from '../../test/server/platform/storage/network.ts';

/** What the wire does to the bytes that the server sends. */
export type WireFault =
  | { readonly kind: 'none' }
  /** They arrive later by this time. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The first half of an answer arrives, and nothing else on that connection. */
  | { readonly kind: 'stall' }
  /** The first half of an answer arrives, and the connection is reset. */
  | { readonly kind: 'reset' };

/** Lies between the service and a server that it needs. */
export type FaultyWire = {
  readonly port: number;
  /** Applies from now on, also to connections that are open. */
  readonly setFault: (fault: WireFault) => void;
  readonly close: () => Promise<void>;
};

export async function startFaultyWire(targetPort: number): Promise<FaultyWire> {
  const sockets = new Set<Socket>();
  let fault: WireFault = { kind: 'none' };
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

/** Passes the server's bytes on, in their order, as the fault of the moment lets them. */
function pass(far: Socket, near: Socket, faultNow: () => WireFault): void {
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
