import type { Socket } from 'node:net';
import { startForwardingServer } from '../../test/support/forwarding-server.ts';

/** A TCP proxy between one instance and its database. It sees every statement. */
export type DatabaseProxy = {
  /** Returns `url` with the address of this proxy. */
  readonly through: (url: string) => string;
  /** Calls `injectFault` once, when the instance next sends bytes that contain the text. */
  readonly onNext: (text: string, injectFault: () => Passage) => void;
  /** Cancels `onNext`. */
  readonly forget: () => void;
  /** Forwards what was held back. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
};

/** Whether the proxy forwards the statement to the database, or holds it back until `release`. */
export type Passage = 'passes' | 'held';

/** Starts a proxy to the port that `target` returns when a connection is made. */
export async function startDatabaseProxy(target: () => number): Promise<DatabaseProxy> {
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
    through,
    onNext: (text, injectFault) => {
      awaited = { text, injectFault };
    },
    forget: () => {
      awaited = undefined;
    },
    release: () => {
      isHeld = false;
      for (const write of held.splice(0)) write();
    },
    close: cut,
  };
}
