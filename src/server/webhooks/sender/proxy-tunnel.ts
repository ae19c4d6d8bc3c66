import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.ts';

/*
 * Connections to receivers through a forward proxy (CONNECT, RFC 9110, section 9.3.6). The guard checks the name before the
 * proxy gets it. What the proxy then connects to is its own look-up, so the proxy must refuse internal addresses too.
 */

type Connect = buildConnector.connector;

type ProxyTunnel = {
  /** It may contain a user and a password. */
  readonly proxyUrl: string;
  readonly guard: Pick<AddressGuard, 'lookup'>;
  readonly timeoutMs: number;
  /** Adds TLS to the tunnel for an https receiver. */
  readonly connectInTunnel: Connect;
};

/** Code of the error of a proxy that opens no tunnel. */
export const PROXY_REFUSED = 'ERR_PROXY_REFUSED';

/** Returns a connector that opens a tunnel for each connection. */
export function connectThroughProxy(settings: ProxyTunnel): Connect {
  return (options, callback) => {
    const port = options.port === '' ? (options.protocol === 'https:' ? '443' : '80') : options.port;
    settings.guard.lookup(options.hostname.replace(/^\[|\]$/g, ''), { all: true }, (error) => {
      // The service may know no names beyond its own network, where only the proxy has a way out.
      if (error !== null && !NO_ANSWER.has(error.code ?? '')) return callback(error, null);
      openTunnel(settings, `${options.hostname}:${port}`, (fault, tunnel) => {
        if (tunnel === null) return callback(fault ?? new Error('no tunnel'), null);
        if (options.protocol !== 'https:') return callback(null, tunnel);
        settings.connectInTunnel({ ...options, httpSocket: tunnel }, callback);
      });
    });
  };
}

const NO_ANSWER: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** Longest head of the proxy's response that is read. */
const MAX_HEAD_BYTES = 16 * 1024;

function openTunnel(
  { proxyUrl, timeoutMs }: ProxyTunnel,
  authority: string,
  callback: (error: Error | null, tunnel: Socket | null) => void,
): void {
  const { protocol, hostname, port, username, password } = new URL(proxyUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  const target = { host, port: Number(port || (isTls ? 443 : 80)) };
  const socket = isTls ? connectTls({ ...target, servername: host }) : connectTcp(target);
  const timer = setTimeout(() => end(refused('the proxy did not open a connection in time')), timeoutMs);
  let head = '';
  const end = (error: Error | null): void => {
    clearTimeout(timer);
    socket.off('readable', read).off('error', fail).off('end', close);
    if (error !== null) socket.on('error', () => undefined).destroy();
    callback(error, error === null ? socket : null);
  };
  const read = (): void => {
    // Byte by byte, because what follows the head belongs to the receiver.
    for (let byte = socket.read(1); byte !== null; byte = socket.read(1)) {
      head += byte.toString('latin1');
      const isOver = head.endsWith('\r\n\r\n');
      if (!isOver && head.length <= MAX_HEAD_BYTES) continue;
      end(isOver ? readRefusal(head) : refused('the proxy does not speak HTTP'));
      return;
    }
  };
  const fail = (): void => end(refused('the proxy cannot be reached'));
  const close = (): void => end(refused('the proxy closed the connection'));
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const credentials =
    username === '' ? '' : `Proxy-Authorization: Basic ${Buffer.from(user).toString('base64')}\r\n`;
  socket.once(isTls ? 'secureConnect' : 'connect', () => {
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`);
  });
  socket.on('readable', read).on('error', fail).on('end', close);
}

function readRefusal(head: string): Error | null {
  const status = /^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1];
  if (status?.startsWith('2') === true) return null;
  return refused(
    status === undefined ? 'the proxy does not speak HTTP' : `the proxy refused to connect, with ${status}`,
  );
}

/** The message has only our own words, because it is shown to the owner of the webhook. */
function refused(message: string): Error {
  return Object.assign(new Error(message), { code: PROXY_REFUSED });
}
