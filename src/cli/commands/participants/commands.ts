import { type BlockDuration, MAX_BLOCK_SECONDS } from '../../../contract/blocks.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { type Command, defineCommand } from '../../framework/command.ts';
import { WATCH, YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import type { Context } from '../../framework/context.ts';
import { watchList } from '../../framework/lists/watch-list.ts';
import { option, wholeSeconds } from '../../framework/parameters.ts';
import { done, type ListResult, list } from '../../terminal/result.ts';
import { formatDuration, plural } from '../../terminal/time.ts';
import { findParticipant } from './find-participant.ts';
import { forget } from './forget-command.ts';
import { mute, unmute } from './mute-commands.ts';
import { IDENTITY, PARTICIPANT_COLUMNS, PARTICIPANT_FIELDS, ROOM } from './participant-view.ts';
import { update } from './update-command.ts';

const listParticipants = defineCommand({
  noun: 'participants',
  verb: 'list',
  aliases: ['ls'],
  summary: 'List the participants of a room',
  description: 'Recorders are not listed.',
  needs: 'service',
  fields: PARTICIPANT_FIELDS,
  arguments: { room: ROOM },
  options: { watch: WATCH },
  examples: [
    { line: 'rtc participants list demo', does: 'Who is there, and what they publish' },
    { line: 'rtc participants list demo --watch', does: 'See them join and leave' },
    { line: 'rtc participants list demo --json identity,tracks', does: 'With the sids of their tracks' },
  ],
  isStream: (input) => input.watch,
  async run(context, input) {
    const read = async (): Promise<ListResult> => {
      const client = await context.client();
      const response = await client.participants.list(input.room, { signal: context.io.signal });
      return list({
        response,
        records: response.participants,
        columns: PARTICIPANT_COLUMNS,
        identify: (participant) => participant.sid,
        empty: `Nobody is in ${input.room}. Let somebody in: rtc tokens create --room ${shellQuote(input.room)} --identity ada --role host`,
      });
    };
    return input.watch ? watchList(context, read) : read();
  },
});

const remove = defineCommand({
  noun: 'participants',
  verb: 'remove',
  aliases: ['rm'],
  summary: 'Disconnect a participant',
  description:
    'Without --block, a participant with a valid token can come back. With --block, the identity gets no token for this room, and is removed at once if it joins with an older one. You can block somebody who is not in the room.',
  needs: 'service',
  arguments: { room: ROOM, identity: IDENTITY },
  options: {
    block: option('--block <duration>', 'keep the identity out for this long, such as 1h, or forever', {
      parse: blockDuration,
    }),
    yes: YES,
  },
  examples: [
    { line: 'rtc participants remove demo ada', does: 'Asks first' },
    { line: 'rtc participants remove demo ada --yes', does: 'At once' },
    { line: 'rtc participants remove demo ada --block 1h', does: 'And keeps ada out for an hour' },
    { line: 'rtc participants remove demo ada --block forever', does: 'Until rtc blocks remove demo ada' },
  ],
  async run(context, { room, identity, block, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'removing a participant',
      question: async () => {
        const loss = await describeLoss(context, { room, identity, block });
        return `Remove ${identity} from ${room}${describeBlock(', and keep it out', block)}? ${loss}.`;
      },
    });
    const { signal } = context.io;
    const { removed } = await client.participants.remove(room, identity, { block, signal });
    const blocked = describeBlock(' and blocked it', block);
    return done(
      removed
        ? `Removed ${identity} from ${room}${blocked}.`
        : `Found no participant ${identity} in ${room}${blocked}.`,
    );
  },
});

const parseSeconds = wholeSeconds(1, MAX_BLOCK_SECONDS);

function blockDuration(text: string): BlockDuration {
  return text === 'forever' ? text : parseSeconds(text);
}

function describeBlock(words: string, block: BlockDuration | undefined): string {
  if (block === undefined) return '';
  return block === 'forever' ? `${words} for ever` : `${words} for ${formatDuration(block)}`;
}

type Removal = {
  readonly room: string;
  readonly identity: string;
  readonly block: BlockDuration | undefined;
};

async function describeLoss(context: Context, { room, identity, block }: Removal): Promise<string> {
  // A blocked participant need not be in the room.
  if (block !== undefined) return 'The participant with this identity is disconnected';
  const { tracks } = await findParticipant(context, room, identity);
  return tracks.length === 0
    ? 'The participant publishes nothing'
    : `${plural(tracks.length, 'track')} will end`;
}

export const commands: readonly Command[] = [listParticipants, update, remove, forget, mute, unmute];
