import type { RequestLine } from './response.ts';
import { type ClientErrorCode, RtcError } from './rtc-error.ts';

export type Circumstances = {
  readonly origin: string;
  readonly signal: AbortSignal | undefined;
  readonly isTimedOut: boolean;
};

/**
 * What broke a call off, as RtcError. Where there is something to do about it, the detail ends with it, after a
 * semicolon: `https://127.0.0.1:3000 answers without TLS; use http://127.0.0.1:3000`.
 */
export function explainConnection(
  cause: unknown,
  line: RequestLine,
  { origin, signal, isTimedOut }: Circumstances,
): RtcError {
  const error = (code: ClientErrorCode, detail: string): RtcError =>
    new RtcError({ ...line, code, detail, cause });
  if (signal?.aborted === true) return error('aborted', 'the call was cancelled');
  const root = rootOf(cause);
  if (isTimedOut || root.code.endsWith('_TIMEOUT') || root.code === 'ETIMEDOUT') {
    return error('timed-out', `${origin} did not answer in time`);
  }
  return error('unreachable', reasonOf(root, origin));
}

/** The error at the root of what fetch or undici rejected with. */
type RootError = {
  /** Code of the system, of OpenSSL or of undici; empty where the runtime gives none. */
  readonly code: string;
  readonly message: string;
  /** Bytes that had come over the connection; undefined when that is not known. */
  readonly bytesRead: number | undefined;
};

function reasonOf({ code, message, bytesRead }: RootError, origin: string): string {
  const notReached = (why: string): string => `${origin} cannot be reached: ${why}`;
  if (code === 'ECONNREFUSED') return notReached('nothing listens there (ECONNREFUSED)');
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return notReached(`its name cannot be resolved (${code})`);
  }
  if (code.startsWith('HPE_')) return parserReason(message, origin);
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') return closedReason(bytesRead, origin);
  return tlsReason(code, origin) ?? notReached(message || code);
}

function closedReason(bytesRead: number | undefined, origin: string): string {
  // A TLS server hangs up on plain HTTP; so does one that stops just now.
  if (bytesRead === 0 && origin.startsWith('http:')) {
    return `${origin} closed the connection without an answer; try again, or use ${origin.replace('http:', 'https:')} where it speaks TLS`;
  }
  return `${origin} closed the connection without a whole answer`;
}

function parserReason(message: string, origin: string): string {
  return /EOF|closed/i.test(message)
    ? `${origin} closed the connection without a whole answer`
    : `what answers at ${origin} does not speak HTTP`;
}

/** OpenSSL's own messages name its source files instead of the reason. */
function tlsReason(code: string, origin: string): string | undefined {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return `${origin} answers without TLS; use ${origin.replace('https:', 'http:')}`;
  }
  const certificate = CERTIFICATE_ERRORS[code];
  if (certificate !== undefined) return `the certificate of ${origin} ${certificate.replace('CODE', code)}`;
  return /^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(code)
    ? `the TLS handshake with ${origin} failed (${code})`
    : undefined;
}

const UNTRUSTED = 'is not trusted (CODE); if it is your own, name its authority in NODE_EXTRA_CA_CERTS';

const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'has expired (CODE); renew it',
  CERT_NOT_YET_VALID: 'is not valid yet (CODE); compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name (CODE); use the name that it is for',
};

/** The error itself if it has a code, or else its cause, or the first of several (one for each address tried). */
function rootOf(error: unknown): RootError {
  if (!isObject(error)) return { code: '', message: withoutQueries(String(error)), bytesRead: undefined };
  const { code, cause, errors, name, message, socket } = error;
  const inner = Array.isArray(errors) ? errors[0] : cause;
  // undici gives its parser's error a code in some cases only.
  const known = typeof code === 'string' ? code : name === 'HTTPParserError' ? 'HPE_' : '';
  if (known === '' && inner !== undefined) return rootOf(inner);
  const bytesRead = isObject(socket) && typeof socket.bytesRead === 'number' ? socket.bytesRead : undefined;
  return { code: known, message: withoutQueries(String(message ?? '')), bytesRead };
}

/** Some runtimes put the whole address into the message; the query of a download is what grants access to it. */
function withoutQueries(message: string): string {
  return message.replaceAll(/(https?:\/\/[^\s?)]*)\?[^\s)]*/g, '$1');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
