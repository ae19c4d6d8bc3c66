import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { portOf } from '../../test/server/platform/storage/network.ts';

/** What lies between one instance and its database: it sees each statement on its way. */
export type Wire = {
  /** `url`, through this wire. */
  readonly through: (url: string) => string;
  /** Once, when the instance next sends bytes with this text. */
  readonly onNext: (text: string, strike: () => Passage) => void;
  /** Waits for the text no longer. */
  readonly forget: () => void;
  /** Lets through what was held. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
};

/** Whether the database gets what the instance has sent, or not before the wire is released. */
export type Passage = 'passes' | 'held';

/** Leads to whatever port `target` names at the time of a connection. */
export async function startWire(target: () => number): Promise<Wire> {
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
  const server = createServer((near) => {
    const far = connect(target(), '127.0.0.1');
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.on('data', (bytes) => send(bytes, far));
    far.on('data', (bytes) => near.write(bytes));
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
