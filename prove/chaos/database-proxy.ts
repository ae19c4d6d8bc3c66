import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { portOf } from '../../test/server/platform/storage/network.ts';

/** A TCP proxy between one instance and its database. It sees every statement. */
export type DatabaseProxy = {
  /** Returns `url` with the address of this proxy. */
  readonly through: (url: string) => string;
  /** Calls `strike` once, when the instance next sends bytes that contain the text. */
  readonly onNext: (text: string, strike: () => Passage) => void;
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
  const sockets = new Set<Socket>();
  let awaited: { readonly text: string; readonly strike: () => Passage } | undefined;
  let isHeld = false;
  const held: (() => void)[] = [];
  const send = (bytes: Buffer, to: Socket): void => {
    if (awaited !== undefined && bytes.includes(awaited.text)) {
      const { strike } = awaited;
      awaited = undefined;
      isHeld = strike() === 'held';
    }
    if (isHeld) held.push(() => to.write(bytes));
    else to.write(bytes);
  };
  const server = createServer((clientSocket) => {
    const serverSocket = connect(target(), '127.0.0.1');
    for (const [socket, other] of [
      [clientSocket, serverSocket] as const,
      [serverSocket, clientSocket] as const,
    ]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    clientSocket.on('data', (bytes) => send(bytes, serverSocket));
    serverSocket.on('data', (bytes) => clientSocket.write(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    through: (url) => {
      const changed = new URL(url);
      changed.port = `${portOf(server)}`;
      return changed.href;
    },
    onNext: (text, strike) => {
      awaited = { text, strike };
    },
    forget: () => {
      awaited = undefined;
    },
    release: () => {
      isHeld = false;
      for (const write of held.splice(0)) write();
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
