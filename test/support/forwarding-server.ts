import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP server on 127.0.0.1 that connects each client to another server. */
export type ForwardingServer = {
  readonly port: number;
  /** Returns `url` with the port of this server. */
  readonly through: (url: string) => string;
  /** Number of open connections of clients. */
  readonly connections: () => number;
  /** Ends every connection and refuses new ones. */
  readonly cut: () => Promise<void>;
  /** Accepts connections again, on the same port. */
  readonly mend: () => Promise<void>;
};

export type ForwardingOptions = {
  /** Returns the address of the server for a new connection. The host is this machine if absent. */
  readonly target: () => { readonly host?: string; readonly port: number };
  /** Passes the bytes of each socket on to the other one, from now on. */
  readonly forward: (client: Socket, server: Socket) => void;
};

export async function startForwardingServer({
  target,
  forward,
}: ForwardingOptions): Promise<ForwardingServer> {
  const sockets = new Set<Socket>();
  const accept = (client: Socket): void => {
    const server = connect({ host: '127.0.0.1', ...target(), noDelay: true });
    client.setNoDelay();
    for (const [socket, other] of [[client, server] as const, [server, client] as const]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    forward(client, server);
  };
  const listen = async (at: number): Promise<Server> => {
    const listening = createServer(accept).listen(at, '127.0.0.1');
    await once(listening, 'listening');
    return listening;
  };
  let server = await listen(0);
  const port = readPort(server);
  return {
    port,
    through: (url) => {
      const changed = new URL(url);
      changed.port = `${port}`;
      return changed.href;
    },
    connections: () => sockets.size / 2,
    cut: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: async () => {
      server = await listen(port);
    },
  };
}

export function readPort(server: Pick<Server, 'address'>): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('there is no port');
  return address.port;
}
