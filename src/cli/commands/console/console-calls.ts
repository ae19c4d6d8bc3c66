import type { RtcClient } from '../../../client/client.ts';
import { SESSION_STATUSES } from '../../../contract/choices.ts';
import { jsonResponse, type PageResponse, problem } from '../../pages/page-response.ts';
import { sessionParticipantsCsv, sessionsCsv } from '../sessions/session-csv.ts';
import type { ConsoleTarget } from './console-target.ts';
import { errorResponse } from './error-response.ts';

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
      case 'POST /console/checks':
        return jsonResponse(200, { checks: await target.runChecks({ withProbe: false }) });
      case 'POST /console/probe':
        if (info.isReadOnly) return readOnlyProblem();
        return jsonResponse(200, { checks: await target.runChecks({ withProbe: true }) });
      case 'POST /console/rooms/open':
        if (info.isReadOnly) return readOnlyProblem();
        return jsonResponse(200, { link: await target.openRoom(roomOf(body)) });
      default: {
        const saved = method === 'GET' ? await saveSessions(target.client, { url, signal }) : undefined;
        return saved ?? problem(404, 'The console has no such call.');
      }
    }
  } catch (error) {
    return errorResponse(error);
  }
}

export function readOnlyProblem(): PageResponse {
  return problem(403, 'This console only reads: it was started with --read-only.', {
    text: 'start it without --read-only to change something',
  });
}

function roomOf(body: string): string {
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
