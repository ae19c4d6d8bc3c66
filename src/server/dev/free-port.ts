import { createServer } from 'node:net';

/** How many ports after the wanted one are tried. */
const TRIES = 50;

/** The wanted port of the address, or the next free one after it. */
export async function nextFreePort(wanted: number, host = '127.0.0.1'): Promise<number> {
  for (let port = wanted; port < wanted + TRIES; port += 1) {
    if (await isFree(port, host)) return port;
  }
  throw new Error(`All ports from ${wanted} to ${wanted + TRIES - 1} on ${host} are taken.`);
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
