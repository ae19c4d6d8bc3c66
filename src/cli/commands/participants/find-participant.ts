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
  const there: string[] = [];
  for await (const participant of client.participants.all(room, { signal: context.io.signal })) {
    if (participant.identity === identity) return participant;
    there.push(participant.identity);
  }
  const others = there.length - MOST_NAMED;
  throw new CliError(
    EXIT.notFound,
    `there is no participant ${JSON.stringify(identity)} in room ${JSON.stringify(room)}`,
    there.length === 0
      ? `the room is empty; see: rtc participants list ${shellQuote(room)}`
      : `choose from the participants: ${there.slice(0, MOST_NAMED).join(', ')}${others > 0 ? ` and ${others} more` : ''}`,
  );
}

/** Participants that the error names. */
const MOST_NAMED = 20;
