import type { Participant } from '../../../contract/participants.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';

/** @throws CliError (not found) that names the participants of the room */
export async function findParticipant(
  context: Context,
  room: string,
  identity: string,
): Promise<Participant> {
  const client = await context.readOnlyClient();
  const { participants } = await client.participants.list(room, { signal: context.io.signal });
  const found = participants.find((participant) => participant.identity === identity);
  if (found !== undefined) return found;
  const there = participants.map((participant) => participant.identity);
  throw new CliError(
    EXIT.notFound,
    `there is no participant ${JSON.stringify(identity)} in room ${JSON.stringify(room)}`,
    there.length === 0
      ? `the room is empty; see: rtc participants list ${shellQuote(room)}`
      : `choose from the participants: ${there.join(', ')}`,
  );
}
