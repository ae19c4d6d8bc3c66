import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';

/** Number of ports to try, beginning with the wanted one. */
const TRIES = 50;
/** Number of starts, when another program takes a port between the check and the start. */
const STARTS = 5;

/** Returns the wanted port if it is free, otherwise the next free one. */
export async function nextFreePort(wanted: number, host = '127.0.0.1'): Promise<number> {
  const { port, release } = await holdFreePort(wanted, host);
  await release();
  return port;
}

export type HeldPort = {
  readonly port: number;
  /** Closes the port, so that another server can listen on it. */
  readonly release: () => Promise<void>;
};

/** Like nextFreePort, but listens on the port until it is released. Connections are closed meanwhile. */
export async function holdFreePort(wanted: number, host: string): Promise<HeldPort> {
  return await takeFirst(wanted, host, async (port) => {
    const server = await listenOn(port, host);
    return server && { port, release: () => closeServer(server) };
  });
}

/** Like nextFreePort, for UDP. */
export async function nextFreeUdpPort(wanted: number, host = '127.0.0.1'): Promise<number> {
  return await takeFirst(wanted, host, async (port) =>
    (await isFreeForDatagrams(port, host)) ? port : undefined,
  );
}

/** Repeats `start`, which looks for free ports, when another program took one of them at the same moment. */
export async function withFreePorts<T>(start: () => Promise<T>): Promise<T> {
  for (let startsLeft = STARTS - 1; ; startsLeft -= 1) {
    try {
      return await start();
    } catch (error) {
      const isTaken =
        error instanceof Error && /address already in use|failed listening on port/i.test(error.message);
      if (!isTaken || startsLeft === 0) throw error;
    }
  }
}

/** Returns the first result of `take` that is not undefined, for the ports from the wanted one on. */
async function takeFirst<T>(
  wanted: number,
  host: string,
  take: (port: number) => Promise<T | undefined>,
): Promise<T> {
  for (let port = wanted; port < wanted + TRIES; port += 1) {
    const taken = await take(port);
    if (taken !== undefined) return taken;
  }
  throw new Error(`All ports from ${wanted} to ${wanted + TRIES - 1} on ${host} are taken.`);
}

function listenOn(port: number, host: string): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((connection) => connection.destroy());
    server.once('error', () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
}

async function closeServer(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

function isFreeForDatagrams(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => resolve(false));
    socket.bind({ port, address: host, exclusive: true }, () => socket.close(() => resolve(true)));
  });
}
