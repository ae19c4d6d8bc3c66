import { connect } from 'node:net';

/** Nothing accepts connections at the address. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError';
  readonly code = 'UND_ERR_CONNECT_TIMEOUT';
}

export type ConnectionCheck = {
  readonly url: string;
  /** Time without a response before the address is tried, and timeout of that connection attempt. */
  readonly connectMs: number;
};

/**
 * Rejects early when the address accepts no connection. fetch itself waits 10 s for one (where packets are dropped), and
 * its limit can only be changed for the whole process. A slow call continues, and a fast one costs only a timer.
 */
export async function withConnectionCheck<T>(check: ConnectionCheck, call: Promise<T>): Promise<T> {
  const { promise: unreachable, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(async () => {
    if (!(await accepts(check))) reject(new NoConnectionError('no connection within the time allowed'));
  }, check.connectMs);
  try {
    return await Promise.race([call, unreachable]);
  } finally {
    clearTimeout(timer);
  }
}

function accepts({ url, connectMs }: ConnectionCheck): Promise<boolean> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({ host, port: Number(port || DEFAULT_PORTS[protocol]), timeout: connectMs });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true));
  socket.once('timeout', () => resolve(false));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
