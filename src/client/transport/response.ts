import { isOwnType } from '../../contract/errors.ts';
import type { ServiceResponse } from '../client-options.ts';
import { codeOfProblem, type Hint, isProblem, RtcError } from '../rtc-error.ts';
import type { HttpResponse } from './http-exchange.ts';
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
  // The content-length of a HEAD is that of the GET, but there is no body.
  const announced = line.method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0);
  if (announced > maxBytes) {
    await response.body.cancel();
    throw tooLarge();
  }
  // The service's JSON has no byte order mark. That of another server is kept, so that its body is shown unchanged.
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
  const problem = isJson(response) ? tryParse(response.body) : undefined;
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
    return notTheService(response, line, {
      how: 'as it speaks TLS',
      hint: { text: 'use https:// in its address' },
    });
  }
  if (response.status < 400 && response.headers.location !== undefined) {
    return redirected(response, line, response.headers.location);
  }
  return notTheService(response, line, { how: describeBody(response) });
}

/**
 * Whether this is the response of Go's server (and with it Caddy and Traefik), nginx or Apache to plain HTTP on a TLS port.
 */
function isPlainHttpToTls({ status, body }: ServiceResponse): boolean {
  const says = /HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)|plain HTTP to an SSL-enabled/i;
  return status === 400 && says.test(body);
}

function describeBody(response: ServiceResponse): string {
  if (response.body === '') return 'without a body';
  return `with ${contentType(response)} that is no problem details`;
}

/**
 * The error for a redirect, by a proxy or by the service for a recording in a bucket. The query is left out, as it may
 * grant access.
 */
function redirected(response: ServiceResponse, line: RequestLine, location: string): RtcError {
  const target = location.split('?', 1)[0];
  const detail = `the response ${response.status} leads to ${target}, which is not followed`;
  return unexpected(response, line, { detail });
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
  return unexpected(response, line, { detail, ...more });
}

type Additions = {
  readonly cause?: unknown;
  readonly hint?: Hint;
  readonly retryAfterSeconds?: number | undefined;
};

function unexpected(
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

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON. The caller reports that.
    return undefined;
  }
}
