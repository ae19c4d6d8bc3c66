import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startForwardingServer } from '../../test/support/forwarding-server.ts';

/** How the proxy treats the bytes that the server sends. */
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
  let fault: ProxyFault = { kind: 'none' };
  const { port, cut } = await startForwardingServer({
    target: () => ({ port: targetPort }),
    forward: (client, server) => {
      client.on('data', (bytes) => server.write(bytes));
      pass(server, client, () => fault);
    },
  });
  return {
    port,
    setFault: (next) => {
      fault = next;
    },
    close: cut,
  };
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
