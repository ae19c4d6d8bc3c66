import { isUntrustedCertificate } from '../../contract/tls-errors.ts';
import { type ClientErrorCode, RtcError } from '../rtc-error.ts';
import type { RequestLine } from './response.ts';

export type Circumstances = {
  readonly origin: string;
  readonly signal: AbortSignal | undefined;
  readonly isTimedOut: boolean;
};

/**
 * Converts the error that ended a call to an RtcError. If the caller can do something about it the error has a hint:
 * `https://127.0.0.1:3000 responds without TLS`, and `use http://127.0.0.1:3000`.
 */
export function explainConnection(
  cause: unknown,
  line: RequestLine,
  { origin, signal, isTimedOut }: Circumstances,
): RtcError {
  const error = (code: ClientErrorCode, detail: string, hint?: string): RtcError =>
    new RtcError({ ...line, code, detail, cause, ...(hint === undefined ? {} : { hint: { text: hint } }) });
  if (signal?.aborted === true) return error('aborted', 'the call was cancelled');
  const root = findRootError(cause);
  if (isTimedOut || root.code.endsWith('_TIMEOUT') || root.code === 'ETIMEDOUT') {
    return error('timed-out', `${origin} did not respond in time`);
  }
  const { reason, hint } = describeReason(root, origin);
  return error('unreachable', reason, hint);
}

/** Whether the connection ended after the request was sent, so that its outcome is unknown. */
export function isBroken({ code, cause }: RtcError): boolean {
  return code === 'unreachable' && BROKEN.includes(findRootError(cause).code);
}

const BROKEN: readonly string[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** The root cause of a rejection of fetch or undici. */
type RootError = {
  /** Code of the system, of OpenSSL or of undici; empty when the runtime has none. */
  readonly code: string;
  readonly message: string;
  /** Bytes that were received over the connection; undefined when the number is unknown. */
  readonly bytesRead: number | undefined;
};

type Reason = { readonly reason: string; readonly hint?: string };

function describeReason({ code, message, bytesRead }: RootError, origin: string): Reason {
  const notReached = (why: string): Reason => ({ reason: `${origin} cannot be reached: ${why}` });
  if (code === 'ECONNREFUSED') return notReached('nothing listens there (ECONNREFUSED)');
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return notReached(`its name cannot be resolved (${code})`);
  }
  if (code.startsWith('HPE_')) return parserReason(message, origin);
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') return closedReason(bytesRead, origin);
  return tlsReason(code, origin) ?? notReached(message || code);
}

function closedReason(bytesRead: number | undefined, origin: string): Reason {
  // A TLS server closes the connection after plain HTTP. So does a server that is stopping.
  if (bytesRead === 0 && origin.startsWith('http:')) {
    return {
      reason: `${origin} closed the connection without a response`,
      hint: `try again, or use ${origin.replace('http:', 'https:')} where it speaks TLS`,
    };
  }
  return { reason: `${origin} closed the connection without a complete response` };
}

function parserReason(message: string, origin: string): Reason {
  const reason = /EOF|closed/i.test(message)
    ? `${origin} closed the connection without a complete response`
    : `the server at ${origin} does not speak HTTP`;
  return { reason };
}

/** OpenSSL's own messages name its source files instead of the reason. */
function tlsReason(code: string, origin: string): Reason | undefined {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return { reason: `${origin} responds without TLS`, hint: `use ${origin.replace('https:', 'http:')}` };
  }
  const certificate = isUntrustedCertificate(code) ? UNTRUSTED : CERTIFICATE_ERRORS[code];
  if (certificate !== undefined) {
    const { reason, hint } = certificate;
    return { reason: `the certificate of ${origin} ${reason} (${code})`, hint };
  }
  return /^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(code)
    ? { reason: `the TLS handshake with ${origin} failed (${code})` }
    : undefined;
}

const UNTRUSTED = {
  reason: 'is not trusted',
  hint: 'if it is your own, name its authority in NODE_EXTRA_CA_CERTS',
};

const CERTIFICATE_ERRORS: Readonly<Record<string, Required<Reason>>> = {
  CERT_HAS_EXPIRED: { reason: 'has expired', hint: 'renew it' },
  CERT_NOT_YET_VALID: { reason: 'is not valid yet', hint: 'compare the clocks' },
  ERR_TLS_CERT_ALTNAME_INVALID: { reason: 'is for another name', hint: 'use the name that it is for' },
};

/**
 * Returns the error itself if it has a code, or else its cause, or the first of several (one for each address that was
 * tried).
 */
function findRootError(error: unknown): RootError {
  if (!isObject(error)) return { code: '', message: withoutQueries(String(error)), bytesRead: undefined };
  const { code, cause, errors, name, message, socket } = error;
  const inner = Array.isArray(errors) ? errors[0] : cause;
  // undici's parser error has a code only in some cases.
  const known = typeof code === 'string' ? code : name === 'HTTPParserError' ? 'HPE_' : '';
  if (known === '' && inner !== undefined) return findRootError(inner);
  const bytesRead = isObject(socket) && typeof socket.bytesRead === 'number' ? socket.bytesRead : undefined;
  return { code: known, message: withoutQueries(String(message ?? '')), bytesRead };
}

/**
 * Removes queries: some runtimes put the whole address into the message, and the query of a download grants access to it.
 */
function withoutQueries(message: string): string {
  return message.replaceAll(/(https?:\/\/[^\s?)]*)\?[^\s)]*/g, '$1');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
