import type { Answer } from './client-options.ts';
import type { HttpResponse } from './http-exchange.ts';
import { parseRetryAfter } from './retry.ts';
import { codeOfProblem, isProblem, RtcError } from './rtc-error.ts';

export type Asked = { readonly method: string; readonly path: string };

/** Reads the whole body, and gives up past `maxBytes`: an answer must not fill the memory. */
export async function readAnswer(response: HttpResponse, asked: Asked, maxBytes: number): Promise<Answer> {
  const { status, statusText, headers } = response;
  const tooLarge = (): RtcError =>
    new RtcError({
      ...asked,
      code: 'answer-too-large',
      status,
      requestId: headers['x-request-id'],
      detail: `the answer is larger than ${maxBytes} bytes`,
    });
  // That of a HEAD tells of what a GET would answer.
  const announced = asked.method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0);
  if (announced > maxBytes) {
    response.discard();
    throw tooLarge();
  }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let body = '';
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (size > maxBytes) throw tooLarge();
    body += decoder.decode(chunk, { stream: true });
  }
  return { status, statusText, headers, body: body + decoder.decode() };
}

/** The body as JSON; undefined for an empty one. */
export function parseAnswer(answer: Answer, asked: Asked): unknown {
  if (answer.body === '') return undefined;
  if (isJson(answer)) {
    try {
      return JSON.parse(answer.body);
    } catch (cause) {
      throw unexpected(answer, asked, 'with broken JSON', cause);
    }
  }
  throw unexpected(answer, asked, `with ${contentType(answer)} instead of JSON`);
}

/** The error that an answer of 300 or more stands for. */
export function errorOfAnswer(answer: Answer, asked: Asked, nowMs: number): RtcError {
  const problem = isJson(answer) ? tryParse(answer.body) : undefined;
  if (!isProblem(problem) && isPlainToTls(answer)) {
    return unexpected(answer, asked, 'as it speaks TLS; use https:// in its address');
  }
  if (!isProblem(problem) && answer.status < 400 && answer.headers.location !== undefined) {
    return redirected(answer, asked, answer.headers.location);
  }
  if (!isProblem(problem)) return unexpected(answer, asked, described(answer));
  return new RtcError({
    ...asked,
    code: codeOfProblem(problem, answer.status),
    status: answer.status,
    detail: problem.detail,
    problem,
    body: answer.body,
    requestId: requestIdOf(answer) ?? problem.instance?.replace(/^urn:uuid:/, ''),
    retryAfterSeconds: parseRetryAfter(answer.headers['retry-after'], nowMs),
  });
}

/** What Go's server (and with it Caddy and Traefik), nginx and Apache answer to plain HTTP where they speak TLS. */
function isPlainToTls({ status, body }: Answer): boolean {
  const isSaid = /HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)|plain HTTP to an SSL-enabled/i;
  return status === 400 && isSaid.test(body);
}

function described(answer: Answer): string {
  if (answer.body === '') return 'without a body';
  return `with ${contentType(answer)} that is no problem details`;
}

/** Of a proxy, or of the service where a recording is in a bucket. Its query may be what lets its holder in. */
function redirected(answer: Answer, asked: Asked, location: string): RtcError {
  const target = location.split('?', 1)[0];
  return unforeseen(answer, asked, `the answer ${answer.status} leads to ${target}, which is not followed`);
}

function unexpected(answer: Answer, asked: Asked, how: string, cause?: unknown): RtcError {
  const detail = `something other than the service answered ${answer.status} ${how}`;
  return unforeseen(answer, asked, detail, cause);
}

function unforeseen(answer: Answer, asked: Asked, detail: string, cause?: unknown): RtcError {
  const { status, body } = answer;
  const requestId = requestIdOf(answer);
  return new RtcError({ ...asked, code: 'unexpected-answer', status, body, requestId, detail, cause });
}

function requestIdOf(answer: Answer): string | undefined {
  return answer.headers['x-request-id'];
}

function contentType(answer: Answer): string {
  const type = answer.headers['content-type']?.split(';')[0]?.trim() ?? '';
  return type === '' ? 'a body of no type' : type;
}

function isJson(answer: Answer): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/i.test(contentType(answer));
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON after all: reported as such by the caller.
    return undefined;
  }
}
