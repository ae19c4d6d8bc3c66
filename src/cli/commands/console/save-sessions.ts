import type { RtcClient } from '../../../client/client.ts';
import { SESSION_STATUSES } from '../../../contract/choices.ts';
import type { PageResponse } from '../../pages/page-response.ts';
import { sessionParticipantsCsv, sessionsCsv } from '../sessions/session-csv.ts';

/** A request of the page for a list as a file. */
export type Saving = {
  /** Path and query, as sent. */
  readonly url: string;
  readonly signal: AbortSignal;
};

const LIST_PATH = '/console/sessions.csv';
const PARTICIPANTS_PATH = /^\/console\/sessions\/([^/]+)\/participants\.csv$/;

/** Sessions, or who was in one of them, as CSV; undefined for any other path. */
export async function saveSessions(
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
