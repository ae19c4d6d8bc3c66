import { RtcError } from '../../../client/rtc-error.ts';
import { plural } from '../../../contract/amounts.ts';
import type { ClosedRoom } from '../../../contract/rooms.ts';
import { WATCH, YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import type { Context } from '../../framework/context.ts';
import { LIMIT, pagedList } from '../../framework/lists/read-pages.ts';
import { choice, defineCommand, listOfExisting, option } from '../../framework/parameters.ts';
import { forEachTarget, nameSucceeded } from '../../framework/report-error.ts';
import type { Column } from '../../terminal/result.ts';
import { futureMoment, type Moment } from '../../terminal/time.ts';

export const remove = defineCommand({
  verb: 'delete',
  aliases: ['rm', 'close'],
  summary: 'Close rooms and disconnect everybody in them',
  description:
    'Whoever has a token can open the room again by joining it. With --reopen never or --until nobody gets a token, and who joins with an older one is removed at once; rtc rooms create opens the room again. Such a room does not have to be open.',
  arguments: { rooms: listOfExisting('name of the room, or of several', 'rooms') },
  options: {
    reopen: option(
      '--reopen <when>',
      'keep the room closed, until rtc rooms create opens it',
      choice(['never']),
    ),
    until: option('--until <time>', 'keep the room closed until then: 10m, 7d or an instant', futureMoment),
    yes: YES,
  },
  examples: [
    { line: 'rtc rooms delete demo', does: 'Asks first, and names what is lost' },
    { line: 'rtc rooms delete demo class --yes', does: 'Two at once, without asking' },
    { line: 'rtc rooms delete demo --until 8h', does: 'And nobody comes back with an older token before' },
    { line: 'rtc rooms delete demo --reopen never', does: 'Until rtc rooms create demo' },
  ],
  async run(context, input) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: input.yes || context.flags.isCurl,
      what: 'deleting rooms',
      question: () => describeLoss(context, input),
    });
    const { reopen } = input;
    const until = input.until?.(context.io.clock());
    const deleted = await forEachTarget(context, input.rooms, (room) =>
      client.rooms.delete(room, { reopen, until, signal: context.io.signal }),
    );
    const kept = describeKept(input, ', which nobody can enter', until);
    return nameSucceeded(deleted, (names) => `Deleted ${names}${kept}.`);
  },
});

type Kept = { readonly reopen: 'never' | undefined; readonly until: Moment | undefined };

function describeKept({ reopen, until }: Kept, words: string, instant?: string): string {
  if (until !== undefined) return instant === undefined ? words : `${words} until ${instant}`;
  return reopen === undefined ? '' : `${words} until rtc rooms create opens it`;
}

const CLOSED_FIELDS = ['name', 'closedAt', 'closedUntil'] as const satisfies readonly (keyof ClosedRoom)[];

const CLOSED_COLUMNS: readonly Column<ClosedRoom>[] = [
  { heading: 'NAME', value: ({ name }) => name, paint: 'name' },
  {
    heading: 'CLOSED-UNTIL',
    value: ({ closedUntil }) =>
      closedUntil === null ? 'opened again' : { instantMs: Date.parse(closedUntil) },
  },
  { heading: 'CLOSED', value: ({ closedAt }) => ({ instantMs: Date.parse(closedAt) }) },
];

export const closed = defineCommand({
  verb: 'closed',
  summary: 'List the rooms that are kept closed',
  description: 'rtc rooms delete with --reopen or --until closes a room so; rtc rooms create opens it again.',
  fields: CLOSED_FIELDS,
  options: { limit: LIMIT, watch: WATCH },
  examples: [
    { line: 'rtc rooms closed', does: 'Which, and until when' },
    {
      line: 'rtc rooms closed --json name,closedUntil',
      does: 'As JSON; null means until it is opened again',
    },
  ],
  async run(context, choice) {
    const client = await context.client();
    const { signal } = context.io;
    return pagedList(context, choice, {
      name: 'closedRooms',
      read: (page) => client.rooms.listClosed({ ...page, signal }),
      columns: CLOSED_COLUMNS,
      identify: ({ name }) => name,
      empty: 'No room is kept closed. Keep one closed: rtc rooms delete ROOM --reopen never',
    });
  },
});

async function describeLoss(
  context: Context,
  { rooms, ...kept }: Kept & { readonly rooms: readonly string[] },
): Promise<string> {
  const then = describeKept(kept, ', and keep it closed');
  const client = await context.client();
  let people = 0;
  let recordings = 0;
  let broadcasts = 0;
  for (const name of rooms) {
    const options = { signal: context.io.signal };
    const room = await client.rooms.get(name, options).catch((error: unknown) => {
      // A room that is to be kept closed does not have to be open.
      if (then !== '' && error instanceof RtcError && error.code === 'room-not-found') return undefined;
      throw error;
    });
    if (room === undefined) continue;
    // Counts the participants, because numParticipants lags behind by seconds.
    for await (const _person of client.participants.all(name, options)) people += 1;
    recordings += room.activeRecording ? 1 : 0;
    broadcasts += room.activeBroadcast ? 1 : 0;
  }
  const what = rooms.length === 1 ? `room ${rooms[0]}` : plural(rooms.length, 'room');
  const ended = [
    ...(recordings === 0 ? [] : [plural(recordings, 'recording')]),
    ...(broadcasts === 0 ? [] : [plural(broadcasts, 'broadcast')]),
  ];
  const loss =
    people === 0 && ended.length === 0
      ? 'Nobody is in it'
      : [
          `${plural(people, 'participant')} will be disconnected`,
          ...(ended.length === 0 ? [] : [`${ended.join(' and ')} will end`]),
        ].join(', ');
  return `Delete ${what}${then}? ${loss}.`;
}
