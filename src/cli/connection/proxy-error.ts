import { RtcError } from '../../client/rtc-error.ts';
import type { DispatcherRequest } from '../../client/transport/dispatcher-exchange.ts';
import { readMembers } from '../../contract/unknown-value.ts';
import type { ProxySetting } from './connect.ts';

/** Returns the error of a proxy, as one that names the proxy and its variable; otherwise the error itself. */
export function explainProxyError(
  error: unknown,
  { origin, method, path }: DispatcherRequest,
  { url, variable }: ProxySetting,
): unknown {
  const reason = describeReason(error, origin);
  if (reason === undefined) return error;
  const { hostname } = new URL(origin);
  return new RtcError({
    method,
    // The query of a download grants access to it.
    path: path.replace(/\?.*$/s, ''),
    code: 'unreachable',
    detail: `${origin} cannot be reached: its proxy ${url.origin} ${reason}`,
    hint: { text: `check ${variable} and the service's address, or list ${hostname} in NO_PROXY` },
    cause: error,
  });
}

/** Describes what the proxy did; undefined if the error is one of the connection to the service. */
function describeReason(error: unknown, origin: string): string | undefined {
  const { errors } = readMembers(error);
  // One error for each address of the proxy that was tried.
  const { code, syscall, message } = readMembers(Array.isArray(errors) ? errors[0] : error);
  const status = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(String(message))?.[1];
  if (status === '407') return 'demands a user and a password (407)';
  if (status !== undefined) return `responded with ${status}`;
  // undici connects to nothing but the proxy. The proxy connects to the service.
  if (code === 'ECONNREFUSED') return 'does not listen (ECONNREFUSED)';
  if (syscall === 'getaddrinfo') return `has a name that cannot be resolved (${code})`;
  if (syscall === 'connect') return `does not respond (${code})`;
  if (code === 'UND_ERR_PRX_TLS') return 'has a certificate for another name';
  if (code === 'UND_ERR_PRX_CONN') return CLOSED;
  const isForwarded = origin.startsWith('http:');
  return isForwarded && (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') ? CLOSED : undefined;
}

const CLOSED = 'closed the connection without a complete response';
