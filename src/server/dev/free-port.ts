import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';

/** How many ports after the wanted one are tried. */
const TRIES = 50;
/** How often another program may take a port between our look and our start. */
const STARTS = 5;

/** The wanted port of the address, or the next free one after it. */
export async function nextFreePort(wanted: number, host = '127.0.0.1'): Promise<number> {
  const { port, release } = await holdFreePort(wanted, host);
  await release();
  return port;
}

export type HeldPort = {
  readonly port: number;
  /** Gives the port to who listens next. */
  readonly release: () => Promise<void>;
};

/** The same, kept from others until it is needed: who connects meanwhile is turned away. */
export async function holdFreePort(wanted: number, host: string): Promise<HeldPort> {
  return await firstOf(wanted, host, async (port) => {
    const server = await listenOn(port, host);
    return server && { port, release: () => closed(server) };
  });
}

/** As nextFreePort, for datagrams. */
export async function nextFreeUdpPort(wanted: number, host = '127.0.0.1'): Promise<number> {
  return await firstOf(wanted, host, async (port) =>
    (await isFreeForDatagrams(port, host)) ? port : undefined,
  );
}

/** Calls a start that looks for free ports again when another one, started at the same moment, took one of them. */
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

/** What `take` makes of the first port, from the wanted one on, that it can take. */
async function firstOf<T>(
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

async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

function isFreeForDatagrams(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => resolve(false));
    socket.bind({ port, address: host, exclusive: true }, () => socket.close(() => resolve(true)));
  });
}
