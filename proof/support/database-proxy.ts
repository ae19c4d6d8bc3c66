import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startForwardingServer } from '../../test/support/forwarding-server.ts';

/** Whether the proxy forwards the statement to the database, or holds it back until `release`. */
export type Passage = 'passes' | 'held';

export type DatabaseProxy = Awaited<ReturnType<typeof startDatabaseProxy>>;

/**
 * Starts a TCP proxy between one instance and its database, which sees every statement. It leads to the port that `target`
 * returns when a connection is made.
 */
export async function startDatabaseProxy(target: () => number) {
  let awaited: { readonly text: string; readonly injectFault: () => Passage } | undefined;
  let isHeld = false;
  const held: (() => void)[] = [];
  const send = (bytes: Buffer, to: Socket): void => {
    if (awaited !== undefined && bytes.includes(awaited.text)) {
      const { injectFault } = awaited;
      awaited = undefined;
      isHeld = injectFault() === 'held';
    }
    if (isHeld) held.push(() => to.write(bytes));
    else to.write(bytes);
  };
  const { through, cut } = await startForwardingServer({
    target: () => ({ port: target() }),
    forward: (client, server) => {
      client.on('data', (bytes) => send(bytes, server));
      server.on('data', (bytes) => client.write(bytes));
    },
  });
  return {
    /** Returns a URL with the address of this proxy. */
    through,
    /** Calls `injectFault` once, when the instance next sends bytes that contain the text. */
    onNext: (text: string, injectFault: () => Passage) => {
      awaited = { text, injectFault };
    },
    /** Cancels `onNext`. */
    forget: () => {
      awaited = undefined;
    },
    /** Forwards what was held back. */
    release: () => {
      isHeld = false;
      for (const write of held.splice(0)) write();
    },
    close: cut,
  };
}

/** How the proxy treats the bytes that the server sends. */
export type ProxyFault =
  | { readonly kind: 'none' }
  /** Delays all bytes. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Forwards the first half of a response, and then nothing more on that connection. */
  | { readonly kind: 'stall' }
  /** Forwards the first half of a response, and then resets the connection. */
  | { readonly kind: 'reset' };

export type FaultyProxy = Awaited<ReturnType<typeof startFaultyProxy>>;

/** Starts a TCP proxy between the service and a server that it needs. */
export async function startFaultyProxy(targetPort: number) {
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
    /** Sets the fault for all connections, including the open ones. */
    setFault: (next: ProxyFault) => {
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

/** Traffic between an instance and its PostgreSQL. */
export type Traffic = {
  /** Number of executed statements, BEGIN and COMMIT included. */
  readonly statements: number;
  /** How often the instance sent something after a response: the times that it waited for the network. */
  readonly roundTrips: number;
  readonly bytes: number;
};

/** Message types of PostgreSQL's protocol that execute a statement: Query and Execute. */
const EXECUTING = new Set(['Q'.charCodeAt(0), 'E'.charCodeAt(0)]);
const HEADER_BYTES = 5;

export type CountingProxy = Awaited<ReturnType<typeof startCountingProxy>>;

/** Starts a proxy between an instance and its database that counts messages. */
export async function startCountingProxy(target: string) {
  const counts = { statements: 0, roundTrips: 0, bytes: 0 };
  const { through, cut } = await startForwardingServer({
    target: () => ({ port: Number(new URL(target).port) }),
    forward: (client, server) => {
      const messages = new MessageReader((type) => {
        if (EXECUTING.has(type)) counts.statements += 1;
      });
      let hasResponded = true;
      client.on('data', (bytes) => {
        if (hasResponded) counts.roundTrips += 1;
        hasResponded = false;
        counts.bytes += bytes.length;
        messages.push(bytes);
        server.write(bytes);
      });
      server.on('data', (bytes) => {
        hasResponded = true;
        counts.bytes += bytes.length;
        client.write(bytes);
      });
    },
  });
  return { through, traffic: (): Traffic => ({ ...counts }), close: cut };
}

/** Splits the bytes of an instance into messages. Each has a type and a length, except the first one, which has no type. */
class MessageReader {
  readonly #onMessage: (type: number) => void;
  #buffered: Buffer = Buffer.alloc(0);
  /** Bytes of the current message that have not arrived yet. */
  #skip = 0;
  #isFirst = true;

  constructor(onMessage: (type: number) => void) {
    this.#onMessage = onMessage;
  }

  push(bytes: Buffer): void {
    let rest = this.#buffered.length === 0 ? bytes : Buffer.concat([this.#buffered, bytes]);
    for (;;) {
      const skipped = Math.min(this.#skip, rest.length);
      this.#skip -= skipped;
      rest = rest.subarray(skipped);
      if (this.#skip > 0 || rest.length < HEADER_BYTES) break;
      if (this.#isFirst) {
        this.#skip = rest.readUInt32BE(0);
        this.#isFirst = false;
      } else {
        this.#onMessage(rest[0] ?? 0);
        this.#skip = 1 + rest.readUInt32BE(1);
      }
    }
    this.#buffered = rest;
  }
}
