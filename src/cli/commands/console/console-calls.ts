import type { RtcClient } from '../../../client/client.ts';
import type { CallOptions } from '../../../client/client-options.ts';
import type { ListSessionsOptions } from '../../../client/nouns/recordings.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import { SESSION_STATUSES } from '../../../contract/choices.ts';
import { describeError } from '../../errors/describe-error.ts';
import { jsonResponse, type PageResponse, problem } from '../../pages/page-response.ts';
import { renderCsv } from '../../terminal/csv.ts';
import { list } from '../../terminal/result.ts';
import type { Check } from '../doctor/checks.ts';
import { participantCsv, SESSION_CSV } from '../sessions/session-view.ts';

/** A request of the page, with its body read. */
export type ConsoleCall = {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly body: string;
  readonly range: string | undefined;
  readonly signal: AbortSignal;
};

/** Responds to the requests of the page that the command line handles itself. */
export async function handleConsoleCall(
  target: ConsoleTarget,
  { method, url, body, signal }: ConsoleCall,
): Promise<PageResponse> {
  const { info } = target;
  try {
    switch (`${method} ${url}`) {
      case 'GET /console/info':
        return jsonResponse(200, info);
      case 'GET /console/ready':
        return jsonResponse(200, { isReady: await isReady(target.client, { signal }) });
      case 'POST /console/checks':
        return jsonResponse(200, { checks: await target.runChecks({ withProbe: false }) });
      case 'POST /console/probe':
        if (info.isReadOnly) return readOnlyProblem();
        return jsonResponse(200, { checks: await target.runChecks({ withProbe: true }) });
      case 'POST /console/rooms/open':
        if (info.isReadOnly) return readOnlyProblem();
        return jsonResponse(200, { link: await target.openRoom(readRoomId(body)) });
      default: {
        const saved = method === 'GET' ? await saveSessions(target.client, { url, signal }) : undefined;
        return saved ?? problem(404, 'The console has no such call.');
      }
    }
  } catch (error) {
    return errorResponse(error);
  }
}

/** Returns whether the service and what it needs respond. A service that does not respond is not ready. */
async function isReady(client: RtcClient, options: CallOptions): Promise<boolean> {
  try {
    return (await client.ready(options)).ready;
  } catch (error) {
    if (!(error instanceof RtcError)) throw error;
    return false;
  }
}

export function readOnlyProblem(): PageResponse {
  return problem(403, 'This console only reads: it was started with --read-only.', {
    hint: { text: 'start it without --read-only to change something' },
  });
}

function readRoomId(body: string): string {
  const value: unknown = JSON.parse(body);
  const isObject = typeof value === 'object' && value !== null && 'room' in value;
  return isObject && typeof value.room === 'string' ? value.room : '';
}

/** A request of the page for a list as a file. */
type Saving = {
  /** Path and query, as sent. */
  readonly url: string;
  readonly signal: AbortSignal;
};

const LIST_PATH = '/console/sessions.csv';

const PARTICIPANTS_PATH = /^\/console\/sessions\/([^/]+)\/participants\.csv$/;

/** Returns sessions, or the participants of one of them, as CSV; undefined for any other path. */
async function saveSessions(
  client: Pick<RtcClient, 'sessions'>,
  { url, signal }: Saving,
): Promise<PageResponse | undefined> {
  const { pathname, searchParams } = new URL(url, 'http://console');
  if (pathname === LIST_PATH) {
    const text = (name: string): string | undefined => searchParams.get(name) ?? undefined;
    const status = SESSION_STATUSES.find((each) => each === text('status'));
    const filter = { roomId: text('roomId'), status, since: text('since'), until: text('until'), signal };
    return csvResponse('sessions.csv', await sessionsCsv(client, filter));
  }
  const id = PARTICIPANTS_PATH.exec(pathname)?.[1];
  if (id === undefined) return undefined;
  const csv = await sessionParticipantsCsv(client, decodeURIComponent(id), { signal });
  return csvResponse(`${decodeURIComponent(id)}.csv`, csv);
}

function csvResponse(name: string, body: string): PageResponse {
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
    'cache-control': 'no-store',
  };
  return { status: 200, body, headers };
}

/** Status when the service does not respond: the page waits and tries again. */
const UNAVAILABLE = 503;

const FAILED = 500;

/** Returns the problem as the service sent it, with the hint that the command line would print. */
export function errorResponse(error: unknown): PageResponse {
  const { problem, next, cause } = describeError(error, Date.now());
  const isCall = error instanceof RtcError;
  const status = isCall ? (error.status ?? UNAVAILABLE) : FAILED;
  const requestId = isCall ? error.requestId : undefined;
  const members = {
    ...problem,
    status,
    ...('detail' in problem ? {} : { detail: cause }),
    ...(next === undefined ? {} : { hint: { text: next } }),
  };
  const { body, headers } = jsonResponse(status, members);
  return {
    status,
    ...(body === undefined ? {} : { body }),
    headers: {
      ...headers,
      'content-type': 'application/problem+json',
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
    },
  };
}

type SessionsClient = Pick<RtcClient, 'sessions'>;

/** Returns every matching session, as `rtc sessions list --csv` writes them. */
async function sessionsCsv({ sessions }: SessionsClient, filter: ListSessionsOptions): Promise<string> {
  const records = await collectAll(sessions.all(filter));
  const identify = ({ sessionId }: { readonly sessionId: string }): string => sessionId;
  return renderCsv(list({ response: undefined, records, columns: SESSION_CSV, identify, empty: '' }));
}

/** Returns all participants of a session, as `rtc sessions participants --csv` writes them. */
async function sessionParticipantsCsv(
  { sessions }: SessionsClient,
  id: string,
  options: CallOptions,
): Promise<string> {
  const columns = participantCsv(await sessions.get(id, options));
  const records = await collectAll(sessions.allParticipants(id, options));
  const identify = ({ sid }: { readonly sid: string }): string => sid;
  return renderCsv(list({ response: undefined, records, columns, identify, empty: '' }));
}

async function collectAll<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The service of a console, and the functions of the command line that the page needs. */
export type ConsoleTarget = {
  readonly client: RtcClient;
  readonly info: ConsoleInfo;
  /** Runs the checks of `rtc doctor`; `withProbe` creates rooms of its own for a while. */
  readonly runChecks: (options: { readonly withProbe: boolean }) => Promise<readonly Check[]>;
  /** Returns the link of a page that joins the room, as `rtc rooms open` serves it. */
  readonly openRoom: (room: string) => Promise<string>;
};

/** Facts about the command line for the page. The same shape as in src/web/console/api/console-calls.ts, which reads it. */
export type ConsoleInfo = {
  /** Name of the profile; null when the address comes from an option or a variable. */
  readonly profile: string | null;
  /** Address of the service. */
  readonly url: string;
  readonly isProtected: boolean;
  readonly isReadOnly: boolean;
  /** The options with which a copied command reaches the same service: `` or ` --profile prod`. */
  readonly commandOptions: string;
  readonly version: string;
};
