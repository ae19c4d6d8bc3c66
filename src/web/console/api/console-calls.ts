import { queryOptions } from '@tanstack/react-query';
import { RtcError } from '../../../client/rtc-error.ts';
import { hmacSha256 } from '../../../client/transport/sign-request.ts';

/*
 * Requests of the page to the command line itself, beside those to the service. The shapes are those of
 * src/cli/commands/console/console-calls.ts.
 */

export type ConsoleInfo = {
  /** Name of the profile; null when the address comes from an option or a variable. */
  readonly profile: string | null;
  readonly url: string;
  readonly isProtected: boolean;
  readonly isReadOnly: boolean;
  /** The options that a copied command needs to reach the same service. */
  readonly commandOptions: string;
  readonly version: string;
};

/** One line of `rtc doctor`. */
export type Check = {
  readonly check: string;
  readonly status: 'ok' | 'note' | 'fault' | 'warning' | 'skipped';
  readonly detail: string;
  /** The next step for the user; empty when there is none. */
  readonly next: string;
};

/** Exchanges the code of the opened link for the token. */
export async function openSession(code: string): Promise<ConsoleInfo> {
  const opened = await call('POST', '/console/session', { code });
  keepToken(String(readFields(opened).token));
  return readAs(opened, isInfo);
}

export async function readInfo(): Promise<ConsoleInfo> {
  return readAs(await call('GET', '/console/info'), isInfo);
}

export async function runChecks(kind: 'checks' | 'probe'): Promise<readonly Check[]> {
  return readAs(await call('POST', `/console/${kind}`), isCheckList).checks;
}

/** The checks take seconds and are in the audit log, so views share their result. */
export const CHECKS = queryOptions({
  queryKey: ['checks'],
  queryFn: () => runChecks('checks'),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Returns whether the service and what it needs respond. It costs little, and no log has it. */
export async function readReadiness(): Promise<boolean> {
  return readFields(await call('GET', '/console/ready')).isReady === true;
}

/** Returns the link of a page that joins the room. */
export async function openRoom(room: string): Promise<string> {
  return readAs(await call('POST', '/console/rooms/open', { room }), isLink).link;
}

async function call(method: string, path: string, body?: object): Promise<unknown> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = body === undefined ? authorize() : { 'content-type': 'application/json', ...authorize() };
  const response = await fetch(path, { method, headers, ...init }).catch((cause: unknown) => {
    throw new RtcError({ method, path, code: 'unreachable', detail: 'the command line has ended', cause });
  });
  const parsed: unknown = response.status === 204 ? undefined : await response.json();
  if (response.ok) return parsed;
  throw toError(parsed, { method, path, status: response.status });
}

function toError(
  response: unknown,
  about: { readonly method: string; readonly path: string; readonly status: number },
): RtcError {
  const read = readFields(response);
  const { detail, hint } = read;
  const hintText = readFields(hint).text;
  return new RtcError({
    ...about,
    code: 'unexpected-answer',
    detail: typeof detail === 'string' ? detail : `the command line responded with ${about.status}`,
    ...(typeof hintText === 'string' ? { hint: { text: hintText } } : {}),
  });
}

function readAs<T>(value: unknown, is: (value: unknown) => value is T): T {
  if (is(value)) return value;
  throw new TypeError('The command line is of another version than this page: reload it.');
}

function isInfo(value: unknown): value is ConsoleInfo {
  const { url, isProtected, isReadOnly } = readFields(value);
  return typeof url === 'string' && typeof isProtected === 'boolean' && typeof isReadOnly === 'boolean';
}

function isCheckList(value: unknown): value is { readonly checks: readonly Check[] } {
  return Array.isArray(readFields(value).checks);
}

function isLink(value: unknown): value is { readonly link: string } {
  return typeof readFields(value).link === 'string';
}

function readFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/*
 * The token that shows the command line that a request is of its page. It is kept for all tabs of this origin, and ends with the
 * command. A cookie would be sent to the other ports of this machine too.
 */

const KEPT = 'rtc-console-token';

function keepToken(token: string): void {
  localStorage.setItem(KEPT, token);
}

/** Returns the header of a request of the page. */
export function authorize(): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${localStorage.getItem(KEPT)}` };
}

/** Returns the address of something that the browser loads without headers, such as a video. It is good for nothing else. */
export async function signPath(path: string): Promise<string> {
  const encoder = new TextEncoder();
  const ticket = await hmacSha256(encoder.encode(localStorage.getItem(KEPT) ?? ''), encoder.encode(path));
  const text = Array.from(ticket, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${path}${path.includes('?') ? '&' : '?'}ticket=${text}`;
}
