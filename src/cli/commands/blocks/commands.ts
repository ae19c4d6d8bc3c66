import type { Block, RoomBlock } from '../../../contract/blocks.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { WATCH } from '../../framework/common-options.ts';
import { LIMIT, pagedList } from '../../framework/lists/read-pages.ts';
import { argument, defineCommand, existing, ofNoun, optionalArgument } from '../../framework/parameters.ts';
import { type Column, done } from '../../terminal/result.ts';

const FIELDS = ['identity', 'blockedAt', 'blockedUntil'] as const satisfies readonly (keyof Block)[];
const EVERYWHERE_FIELDS = ['roomId', ...FIELDS] as const satisfies readonly (keyof RoomBlock)[];

const COLUMNS: readonly Column<Block>[] = [
  { heading: 'IDENTITY', value: (block) => block.identity, paint: 'name' },
  {
    heading: 'BLOCKED-UNTIL',
    value: ({ blockedUntil }) =>
      blockedUntil === null ? 'forever' : { instantMs: Date.parse(blockedUntil) },
  },
  { heading: 'BLOCKED', value: (block) => ({ instantMs: Date.parse(block.blockedAt) }) },
];

const ROOM_COLUMN: Column<RoomBlock> = { heading: 'ROOM', value: ({ roomId }) => roomId };

const ROOM = argument('name of the room', { completes: 'rooms' });

const listBlocks = defineCommand({
  verb: 'list',
  summary: 'List the blocked identities of a room, or of all rooms',
  description: 'The room does not have to be open.',
  fields: ({ room }) => (room === undefined ? EVERYWHERE_FIELDS : FIELDS),
  arguments: { room: optionalArgument('name of the room; default: all rooms', { completes: 'rooms' }) },
  options: { limit: LIMIT, watch: WATCH },
  examples: [
    { line: 'rtc blocks list demo', does: 'Who, and until when' },
    { line: 'rtc blocks list', does: 'In all rooms' },
    { line: 'rtc blocks list demo --json identity,blockedUntil', does: 'As JSON; null means for ever' },
  ],
  async run(context, { room, ...choice }) {
    const client = await context.client();
    const { signal } = context.io;
    if (room === undefined)
      return pagedList(context, choice, {
        name: 'blocks',
        read: (page) => client.blocks.listEverywhere({ ...page, signal }),
        columns: [ROOM_COLUMN, ...COLUMNS],
        identify: ({ roomId, identity }) => `${roomId} ${identity}`,
        empty: 'Nobody is blocked in any room.',
      });
    return pagedList(context, choice, {
      name: 'blocks',
      read: (page) => client.blocks.list(room, { ...page, signal }),
      columns: COLUMNS,
      identify: ({ identity }) => identity,
      empty: `Nobody is blocked in ${room}. Keep somebody out: rtc participants remove ${shellQuote(room)} IDENTITY --block 1h`,
    });
  },
});

const remove = defineCommand({
  verb: 'remove',
  summary: 'Let an identity into a room again',
  arguments: { room: ROOM, identity: existing('identity that is blocked', 'blocks') },
  examples: [{ line: 'rtc blocks remove demo ada', does: 'From now on ada gets tokens again' }],
  async run(context, { room, identity }) {
    const client = await context.client();
    await client.blocks.remove(room, identity, { signal: context.io.signal });
    return done(`${identity} may join ${room} again.`);
  },
});

export const commands = ofNoun('blocks', [listBlocks, remove]);
