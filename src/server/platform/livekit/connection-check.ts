import { connect } from 'node:net';

/** Nothing accepts connections at the address. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError';
  readonly code = 'UND_ERR_CONNECT_TIMEOUT';
}

export type ConnectionCheck = {
  readonly url: string;
  /** How long a call may go unanswered before the address is tried, and how long that may take. */
  readonly connectMs: number;
};

/**
 * Rejects early when nothing can be connected to: fetch itself waits 10 s for a connection (an address whose
 * packets are dropped), and its limit can only be changed for the whole process. A call that is merely slow is
 * left alone, and one that answers in time costs no more than a timer.
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
