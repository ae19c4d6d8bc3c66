import { connect } from 'node:net';

/** Time limit: long enough for another continent, and short for a user who has the address already. */
const TIMEOUT_MS = 1500;

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'rtmp:': 1935,
  'rtmps:': 443,
  'http:': 80,
  'https:': 443,
};

/**
 * Returns whether something accepts connections at a URL, as seen from this machine; a stream may come from another network.
 * Undefined for an address without a port or a protocol that has one.
 */
export async function acceptsConnections(url: string, signal: AbortSignal): Promise<boolean | undefined> {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  const number = port === '' ? DEFAULT_PORTS[protocol] : Number(port);
  if (number === undefined || hostname === '') return undefined;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({ host, port: number, timeout: TIMEOUT_MS, signal });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true));
  socket.once('timeout', () => resolve(false));
  socket.once('error', () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
