import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy between a client and its server. */
export interface Network {
  /** Returns `url` with the address of this proxy. */
  url(url: string): string;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Forwards nothing more on the open connections. */
  silence(): void;
  /** Does the same after the first bytes from a client that contain this text. */
  silenceAfter(text: string): void;
  isSilent(): boolean;
  speak(): void;
  connections(): number;
  close(): Promise<void>;
}

export async function startNetwork(target: URL): Promise<Network> {
  const sockets = new Set<Socket>();
  let silent = false;
  let lastText: string | undefined;
  const forward = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on('data', (bytes) => {
      if (!silent) to.write(bytes);
      if (lastText !== undefined && bytes.includes(lastText)) silent = true;
    });
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  let server = createServer();
  let port = 0;
  const listen = async () => {
    server = createServer((clientSocket) => {
      const serverSocket = connect(Number(target.port), target.hostname);
      forward(clientSocket, serverSocket);
      forward(serverSocket, clientSocket);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = portOf(server);
  };
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen();
  return {
    url: (url) => {
      const changed = new URL(url);
      changed.port = String(port);
      return changed.href;
    },
    cut,
    mend: listen,
    silence: () => {
      silent = true;
    },
    silenceAfter: (text) => {
      lastText = text;
    },
    isSilent: () => silent,
    speak: () => {
      silent = false;
      lastText = undefined;
    },
    connections: () => sockets.size / 2,
    close: cut,
  };
}

export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('there is no port');
  return address.port;
}
