import type { RtcClient } from '../../../client/client.ts';
import type { CallOptions } from '../../../client/client-options.ts';
import type { ListSessionsOptions } from '../../../client/nouns/sessions.ts';
import { renderCsv } from '../../terminal/csv.ts';
import { list } from '../../terminal/result.ts';
import { participantCsv, SESSION_CSV } from './session-view.ts';

type SessionsClient = Pick<RtcClient, 'sessions'>;

/** Returns every matching session, as `rtc sessions list --csv` writes them. */
export async function sessionsCsv(
  { sessions }: SessionsClient,
  filter: ListSessionsOptions,
): Promise<string> {
  const records = await allOf(sessions.all(filter));
  const identify = ({ sessionId }: { readonly sessionId: string }): string => sessionId;
  return renderCsv(list({ response: undefined, records, columns: SESSION_CSV, identify, empty: '' }));
}

/** Returns all participants of a session, as `rtc sessions participants --csv` writes them. */
export async function sessionParticipantsCsv(
  { sessions }: SessionsClient,
  id: string,
  options: CallOptions,
): Promise<string> {
  const columns = participantCsv(await sessions.get(id, options));
  const records = await allOf(sessions.allParticipants(id, options));
  const identify = ({ sid }: { readonly sid: string }): string => sid;
  return renderCsv(list({ response: undefined, records, columns, identify, empty: '' }));
}

async function allOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
