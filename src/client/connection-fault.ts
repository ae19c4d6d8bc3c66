import type { Asked } from './answer.ts';
import { type ClientFault, RtcError } from './rtc-error.ts';

export type Circumstances = {
  readonly origin: string;
  readonly signal: AbortSignal | undefined;
  readonly timeout: AbortSignal | undefined;
};

/**
 * What broke a call off, as RtcError. Where there is something to do about it, the detail ends with it, after a
 * semicolon: `https://127.0.0.1:3000 answers without TLS; use http://127.0.0.1:3000`.
 */
export function explainConnection(cause: unknown, asked: Asked, circumstances: Circumstances): RtcError {
  const { origin, signal, timeout } = circumstances;
  const fault = (code: ClientFault, detail: string): RtcError =>
    new RtcError({ ...asked, code, detail, cause });
  if (signal?.aborted === true) return fault('aborted', 'the call was cancelled');
  const code = systemCode(cause);
  if (timeout?.aborted === true || code.endsWith('_TIMEOUT') || code === 'ETIMEDOUT') {
    return fault('timed-out', `${origin} did not answer in time`);
  }
  return fault('unreachable', reasonOf(cause, { code, origin }));
}

type Broken = { readonly code: string; readonly origin: string };

function reasonOf(cause: unknown, { code, origin }: Broken): string {
  const notReached = (why: string): string => `${origin} cannot be reached: ${why}`;
  if (code === 'ECONNREFUSED') return notReached('nothing listens there (ECONNREFUSED)');
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return notReached(`its name cannot be resolved (${code})`);
  if (code.startsWith('HPE_')) return parserReason(messageOf(cause), origin);
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') return closedReason(cause, origin);
  return tlsReason({ code, origin }) ?? notReached(messageOf(cause) || code);
}

function closedReason(cause: unknown, origin: string): string {
  const { socket } = cause as { readonly socket?: { readonly bytesRead?: number } };
  // A TLS server hangs up on plain HTTP; so does one that stops just now.
  if (socket?.bytesRead === 0 && origin.startsWith('http:')) {
    return `${origin} closed the connection without an answer; try again, or use ${origin.replace('http:', 'https:')} where it speaks TLS`;
  }
  return `${origin} closed the connection without a whole answer`;
}

function parserReason(message: string, origin: string): string {
  return /EOF|closed/i.test(message)
    ? `${origin} closed the connection without a whole answer`
    : `what answers at ${origin} does not speak HTTP`;
}

/** OpenSSL's own words tell of its source files. */
function tlsReason({ code, origin }: Broken): string | undefined {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return `${origin} answers without TLS; use ${origin.replace('https:', 'http:')}`;
  }
  const certificate = CERTIFICATE_FAULTS[code];
  if (certificate !== undefined) return `the certificate of ${origin} ${certificate.replace('CODE', code)}`;
  return /^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(code)
    ? `the TLS handshake with ${origin} failed (${code})`
    : undefined;
}

const UNTRUSTED = 'is not trusted (CODE); if it is your own, name its authority in NODE_EXTRA_CA_CERTS';

const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'has expired (CODE); renew it',
  CERT_NOT_YET_VALID: 'is not valid yet (CODE); compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name (CODE); use the name that it is for',
};

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Code of the error, of its cause, or of the first of several (one per address tried). */
function systemCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, cause, errors, name } = error as Readonly<Record<string, unknown>>;
  if (typeof code === 'string') return code;
  // undici gives its parser's error a code for some faults only.
  if (name === 'HTTPParserError') return 'HPE_';
  return systemCode(Array.isArray(errors) ? errors[0] : cause);
}
