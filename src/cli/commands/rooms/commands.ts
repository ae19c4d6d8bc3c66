import { plural } from '../../../contract/amounts.ts';
import { TRACK_SOURCES } from '../../../contract/choices.ts';
import type { RoomMute, RoomMuted } from '../../../contract/participants.ts';
import type { Room, RoomCreate, RoomData, RoomDataSent } from '../../../contract/rooms.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { usageError } from '../../errors/cli-error.ts';
import { WATCH } from '../../framework/common-options.ts';
import type { Context } from '../../framework/context.ts';
import { watchList } from '../../framework/lists/watch-list.ts';
import {
  argument,
  asText,
  choice,
  defineCommand,
  existing,
  flag,
  listOption,
  ofNoun,
  option,
} from '../../framework/parameters.ts';
import { PLAN_OPTIONS, ROOM_SETTINGS, readPlanSettings } from '../../framework/plan-options.ts';
import { type Column, type ListResult, list, record } from '../../terminal/result.ts';
import { printStatus, printWarning } from '../../terminal/terminal.ts';
import { closed, remove } from './delete-command.ts';
import { admit, deny, join, open, waiting } from './enter-commands.ts';

const FIELDS = [
  'sid',
  'name',
  'emptyTimeout',
  'departureTimeout',
  'maxParticipants',
  'creationTime',
  'creationTimeMs',
  'metadata',
  'numParticipants',
  'numPublishers',
  'activeRecording',
  'activeBroadcast',
] as const satisfies readonly (keyof Room)[];

const NAME: Column<Room> = { heading: 'NAME', value: (room) => room.name, paint: 'name' };

const PARTICIPANTS: Column<Room> = {
  heading: 'PARTICIPANTS',
  value: (room) => room.numParticipants,
  display: (room) =>
    room.maxParticipants === 0
      ? `${room.numParticipants}`
      : `${room.numParticipants} of ${room.maxParticipants}`,
};

const RECORDING: Column<Room> = {
  heading: 'RECORDING',
  value: (room) => room.activeRecording,
  display: (room) => (room.activeRecording ? '● on' : ''),
  paint: (room) => (room.activeRecording ? 'active' : undefined),
};

const BROADCAST: Column<Room> = {
  heading: 'BROADCAST',
  value: (room) => room.activeBroadcast,
  display: (room) => (room.activeBroadcast ? '● on' : ''),
  paint: (room) => (room.activeBroadcast ? 'active' : undefined),
};

const CREATED: Column<Room> = {
  heading: 'CREATED',
  value: (room) => ({ instantMs: createdAtMs(room) }),
};

const LIST_COLUMNS: readonly Column<Room>[] = [NAME, PARTICIPANTS, RECORDING, CREATED, BROADCAST];

const RECORD_COLUMNS: readonly Column<Room>[] = [
  NAME,
  { heading: 'SID', value: (room) => room.sid },
  PARTICIPANTS,
  { heading: 'PUBLISHERS', value: (room) => room.numPublishers },
  {
    heading: 'MAX-PARTICIPANTS',
    value: (room) => room.maxParticipants,
    display: (room) => (room.maxParticipants === 0 ? 'no cap' : `${room.maxParticipants}`),
  },
  { heading: 'EMPTY-TIMEOUT', value: (room) => ({ seconds: room.emptyTimeout }) },
  { heading: 'DEPARTURE-TIMEOUT', value: (room) => ({ seconds: room.departureTimeout }) },
  RECORDING,
  BROADCAST,
  CREATED,
  { heading: 'METADATA', value: (room) => room.metadata },
];

const source = choice(TRACK_SOURCES);

const create = defineCommand({
  verb: 'create',
  summary: 'Create a room',
  description:
    'If the room exists, only its metadata and its plan change. What is planned here is for this room only, and goes before its plan.',
  fields: FIELDS,
  arguments: { name: argument('name of the room') },
  options: {
    ...ROOM_SETTINGS,
    ...PLAN_OPTIONS,
  },
  examples: [
    { line: 'rtc rooms create demo', does: 'A room with the media server’s own limits' },
    {
      line: 'rtc rooms create class --max-participants 20 --empty-timeout 10m --metadata @class.json',
      does: 'A small room that closes ten minutes after the last person has left',
    },
    {
      line: 'rtc rooms create visit --lobby --closes-at 30m',
      does: 'People wait to be admitted, and everybody is out in half an hour',
    },
  ],
  async run(context, input) {
    const client = await context.client();
    const body: RoomCreate = {
      name: input.name,
      ...readPlanSettings(input, context.io.clock()),
    };
    const { room, existed, ignored } = await client.rooms.create(body, { signal: context.io.signal });
    if (existed) printStatus(context.terminal, `Room ${room.name} already existed.`);
    if (ignored.length > 0) {
      printWarning(
        context.terminal,
        `the media server did not apply ${ignored.join(', ')}: the room keeps its own`,
      );
    }
    return record(room, RECORD_COLUMNS, {
      notes: [
        `Join it in the browser: rtc rooms open ${shellQuote(room.name)}`,
        `Let somebody in: rtc tokens create --room ${shellQuote(room.name)} --identity ada --role host`,
      ],
    });
  },
});

const listRooms = defineCommand({
  verb: 'list',
  summary: 'List the open rooms',
  fields: FIELDS,
  options: { watch: WATCH },
  examples: [
    { line: 'rtc rooms list', does: 'All open rooms' },
    { line: 'rtc rooms list --watch', does: 'The same, updated live' },
    { line: 'rtc rooms list --json name,numParticipants', does: 'Two fields, as JSON' },
    { line: 'rtc rooms list | cut -f1', does: 'Only the names' },
  ],
  async run(context, input) {
    const read = (): Promise<ListResult> => readRooms(context);
    return input.watch ? watchList(context, read) : read();
  },
});

const get = defineCommand({
  verb: 'get',
  summary: 'Show one room',
  fields: FIELDS,
  arguments: { room: existing('name of the room', 'rooms') },
  examples: [
    { line: 'rtc rooms get demo', does: 'All details of the room' },
    { line: 'rtc rooms get demo --json metadata', does: 'Only its metadata, as JSON' },
  ],
  async run(context, input) {
    const client = await context.client();
    const room = await client.rooms.get(input.room, { signal: context.io.signal });
    return record(room, RECORD_COLUMNS);
  },
});

const update = defineCommand({
  verb: 'update',
  summary: 'Change the metadata of an open room',
  description: 'Clients in the room receive it at once. An empty text removes it.',
  fields: FIELDS,
  arguments: { room: existing('name of the room', 'rooms') },
  options: {
    metadata: option('--metadata <text>', 'new text that is kept with the room', {
      parse: asText,
      source: 'typed-or-file',
    }),
  },
  examples: [
    { line: 'rtc rooms update demo --metadata @demo.json', does: 'Metadata from a file' },
    { line: "rtc rooms update demo --metadata ''", does: 'Remove the metadata' },
  ],
  async run(context, { room, metadata }) {
    if (metadata === undefined) throw usageError('nothing to change', 'give --metadata');
    const client = await context.client();
    const updated = await client.rooms.update(room, { metadata }, { signal: context.io.signal });
    return record(updated, RECORD_COLUMNS);
  },
});

const MUTE_FIELDS = ['identity', 'trackSid'] as const satisfies readonly (keyof MutedTrack)[];

const COLUMNS: readonly Column<MutedTrack>[] = [
  { heading: 'IDENTITY', value: ({ identity }) => identity, paint: 'name' },
  { heading: 'TRACK', value: ({ trackSid }) => trackSid },
];

export const mute = defineCommand({
  verb: 'mute',
  summary: 'Mute everybody in a room',
  description:
    'Mutes the tracks that are published now. Participants can unmute themselves, and publish new tracks.',
  fields: MUTE_FIELDS,
  arguments: { room: existing('name of the room', 'rooms') },
  options: {
    except: listOption('--except <identity>', 'identity that is not muted'),
    source: listOption('--source <source>', 'only tracks of this source', {
      choices: TRACK_SOURCES,
      checkEach: (text) => void source.parse(text),
    }),
  },
  examples: [
    { line: 'rtc rooms mute demo', does: 'Every published track' },
    { line: 'rtc rooms mute demo --except ada --source microphone', does: 'Everybody but ada' },
  ],
  async run(context, input) {
    const body: RoomMute = {
      ...(input.except.length === 0 ? {} : { except: [...input.except] }),
      ...(input.source.length === 0 ? {} : { sources: input.source.map((each) => source.parse(each)) }),
    };
    const client = await context.client();
    const response = await client.rooms.mute(input.room, body, { signal: context.io.signal });
    return list({
      response,
      records: response.muted,
      columns: COLUMNS,
      identify: ({ trackSid }) => trackSid,
      empty: `There is nothing to mute in ${input.room}.`,
    });
  },
});

const SEND_FIELDS = ['sentTo'] as const satisfies readonly (keyof RoomDataSent)[];

export const send = defineCommand({
  verb: 'send',
  summary: 'Send data to clients in a room',
  description:
    'Clients receive it as the event dataReceived. Identities of --to that are not in the room are skipped.',
  fields: SEND_FIELDS,
  arguments: {
    room: existing('name of the room', 'rooms'),
    text: argument('text to send', {
      source: 'typed-or-file',
      parse: asText,
    }),
  },
  options: {
    topic: option('--topic <topic>', 'topic, by which clients tell messages apart'),
    to: listOption('--to <identity>', 'identity that receives it; default: everyone'),
    lossy: flag('--lossy', 'send it without retransmission, for data that is soon out of date'),
    base64: flag('--base64', 'the text is base64; send its bytes'),
  },
  examples: [
    { line: `rtc rooms send demo '{"poll":"open"}' --topic poll`, does: 'To everyone' },
    { line: 'rtc rooms send demo "Five minutes left" --to ada --to bob', does: 'To two participants' },
    { line: 'base64 -w0 state.bin | rtc rooms send demo - --base64', does: 'Bytes, up to 15 KiB' },
  ],
  async run(context, { room, text, topic, to, lossy, base64 }) {
    const message: RoomData = {
      data: base64 ? text.trim() : text,
      ...(base64 ? { encoding: 'base64' as const } : {}),
      ...(topic === undefined ? {} : { topic }),
      ...(lossy ? { kind: 'lossy' as const } : {}),
      ...(to.length === 0 ? {} : { destinationIdentities: [...to] }),
    };
    const client = await context.client();
    const sent = await client.rooms.send(room, message, { signal: context.io.signal });
    const missing = to.filter((identity) => !sent.sentTo.includes(identity));
    return record(sent, [{ heading: 'SENT-TO', value: ({ sentTo }) => sentTo.join(',') }], {
      notes: [
        `Sent to ${plural(sent.sentTo.length, 'participant')}.`,
        ...(missing.length === 0 ? [] : [`Not there: ${missing.join(', ')}.`]),
      ],
    });
  },
});

export const commands = ofNoun('rooms', [
  create,
  listRooms,
  get,
  update,
  send,
  mute,
  open,
  join,
  waiting,
  admit,
  deny,
  closed,
  remove,
]);

/** The largest page of rooms: most services have fewer. */
const MOST_AT_ONCE = 1_000;

async function readRooms(context: Context): Promise<ListResult> {
  const client = await context.client();
  const rooms = await Array.fromAsync(client.rooms.all({ limit: MOST_AT_ONCE, signal: context.io.signal }));
  const records = rooms.toSorted((one, other) => createdAtMs(other) - createdAtMs(one));
  return list({
    response: { rooms },
    records,
    columns: LIST_COLUMNS,
    identify: (room) => room.sid,
    empty: 'No room is open. Create one: rtc rooms create demo',
  });
}

/** Older media servers leave the milliseconds at 0. */
function createdAtMs(room: Room): number {
  return Number(room.creationTimeMs) || Number(room.creationTime) * 1000;
}

type MutedTrack = RoomMuted['muted'][number];
