import { RtcError } from '../../../client/rtc-error.ts';
import type { SessionDetail } from '../../../contract/sessions.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import type { Context } from '../../framework/context.ts';
import { printStatus } from '../../terminal/terminal.ts';

/**
 * A session by its id, or the last one of a room by the room's name; where the room had others, it says which one it is.
 * A room may be called like an id: the session of that id comes first.
 */
export async function findSession(context: Context, named: string): Promise<SessionDetail> {
  const client = await context.client();
  const { signal } = context.io;
  try {
    return await client.sessions.get(named, { signal });
  } catch (error) {
    if (!(error instanceof RtcError && error.code === 'session-not-found')) throw error;
    const { sessions } = await client.sessions.list({ roomId: named, limit: 2, signal });
    const [last, earlier] = sessions;
    if (last === undefined) throw error;
    if (earlier !== undefined) {
      const { sessionId, createdAt } = last;
      printStatus(
        context.terminal,
        `${named} had several sessions; this is the last one, ${sessionId}, opened ${createdAt}. All: rtc sessions list --room ${shellQuote(named)}`,
      );
    }
    return await client.sessions.get(last.sessionId, { signal });
  }
}
