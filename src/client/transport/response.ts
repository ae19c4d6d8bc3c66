import { isOwnType } from '../../contract/errors.ts';
import { isUntrustedCertificate } from '../../contract/http-responses.ts';
import { parseJson } from '../../contract/unknown-value.ts';
import type { ServiceResponse } from '../client-options.ts';
import { type ClientErrorCode, codeOfProblem, type Hint, isProblem, RtcError } from '../rtc-error.ts';
import type { HttpResponse } from './fetch-exchange.ts';
import { parseRetryAfter } from './retry.ts';

/** The request line, for the message of an error. */
export type RequestLine = { readonly method: string; readonly path: string; readonly origin?: string };

/** Reads the whole body. Throws for more than `maxBytes`, because a response must not fill the memory. */
export async function readResponse(
  response: HttpResponse,
  line: RequestLine,
  maxBytes: number,
): Promise<ServiceResponse> {
  const { status, statusText, headers } = response;
  const tooLarge = (): RtcError =>
    new RtcError({
      ...line,
      code: 'answer-too-large',
      status,
      requestId: headers['x-request-id'],
      detail: `the response is larger than ${maxBytes} bytes`,
    });
  // The content-length of a HEAD says how long the body of the GET is, but there is no body.
  const announced = line.method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0);
  if (announced > maxBytes) {
    await response.body.cancel();
    throw tooLarge();
  }
  // The service's JSON has no byte order mark. The mark of another server is kept, so that its body is shown unchanged.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let body = '';
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    // Leaving the loop ends the transfer.
    if (size > maxBytes) throw tooLarge();
    body += decoder.decode(chunk, { stream: true });
  }
  return { status, statusText, headers, body: body + decoder.decode() };
}

/** Returns the parsed JSON of the body; undefined for an empty one. */
export function parseResponse(response: ServiceResponse, line: RequestLine): unknown {
  if (response.body === '') return undefined;
  if (isJson(response)) {
    try {
      return JSON.parse(response.body);
    } catch (cause) {
      throw notTheService(response, line, { how: 'with broken JSON', cause });
    }
  }
  throw notTheService(response, line, { how: `with ${contentType(response)} instead of JSON` });
}

/** Returns the error for a response of 300 or more. */
export function errorOfResponse(response: ServiceResponse, line: RequestLine, nowMs: number): RtcError {
  const problem = isJson(response) ? parseJson(response.body) : undefined;
  const retryAfterSeconds = parseRetryAfter(response.headers['retry-after'], nowMs);
  if (isProblem(problem) && isOwnType(problem.type)) {
    return new RtcError({
      ...line,
      code: codeOfProblem(problem, response.status),
      status: response.status,
      detail: problem.detail,
      problem,
      body: response.body,
      requestId: response.headers['x-request-id'] ?? problem.instance?.replace(/^urn:uuid:/, ''),
      retryAfterSeconds,
    });
  }
  if (isProblem(problem)) {
    return notTheService(response, line, { how: `with "${problem.detail}"`, retryAfterSeconds });
  }
  if (isPlainHttpToTls(response)) {
    return toUnexpectedError(response, line, {
      detail: `${line.origin ?? 'the address'} expects TLS`,
      hint: { text: 'use https:// in its address' },
    });
  }
  if (response.status < 400 && response.headers.location !== undefined) {
    return toRedirectError(response, line, response.headers.location);
  }
  return notTheService(response, line, { how: describeBody(response), retryAfterSeconds });
}

/**
 * Returns whether this is the response of Go's server (and with it Caddy and Traefik), nginx or Apache to plain HTTP on a TLS
 * port.
 */
function isPlainHttpToTls({ status, body }: ServiceResponse): boolean {
  const says = /HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)|plain HTTP to an SSL-enabled/i;
  return status === 400 && says.test(body);
}

function describeBody(response: ServiceResponse): string {
  if (response.body === '') return 'without a body';
  return `and ${contentType(response)}, not problem details`;
}

/**
 * The error for a redirect, by a proxy or by the service for a recording in a bucket. The query is left out, as it may
 * grant access.
 */
function toRedirectError(response: ServiceResponse, line: RequestLine, location: string): RtcError {
  const target = location.split('?', 1)[0];
  const detail = `the response ${response.status} leads to ${target}, which is not followed`;
  return toUnexpectedError(response, line, { detail });
}

function notTheService(
  response: ServiceResponse,
  line: RequestLine,
  { how, ...more }: { readonly how: string } & Additions,
): RtcError {
  const where = line.origin ?? 'the address';
  const detail = isFromGateway(response)
    ? `something other than the service responded with ${response.status} ${how}`
    : `${where} is not this service: it responded with ${response.status} ${how}`;
  return toUnexpectedError(response, line, { detail, ...more });
}

type Additions = {
  readonly cause?: unknown;
  readonly hint?: Hint;
  readonly retryAfterSeconds?: number | undefined;
};

function toUnexpectedError(
  { status, body, headers }: ServiceResponse,
  line: RequestLine,
  more: { readonly detail: string } & Additions,
): RtcError {
  const requestId = headers['x-request-id'];
  return new RtcError({ ...line, code: 'unexpected-answer', status, body, requestId, ...more });
}

/** The statuses with which a proxy reports that the service behind it does not respond. */
function isFromGateway({ status }: ServiceResponse): boolean {
  return status >= 502 && status <= 504;
}

function contentType(response: ServiceResponse): string {
  const type = response.headers['content-type']?.split(';')[0]?.trim() ?? '';
  return type === '' ? 'a body of no type' : type;
}

function isJson(response: ServiceResponse): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/i.test(contentType(response));
}

export type CallState = {
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
  { origin, signal, isTimedOut }: CallState,
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

/** Returns whether the connection ended after the request was sent, so that its outcome is unknown. */
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
