import {
  type Broadcast,
  type BroadcastStart,
  type BroadcastStatus,
  type BroadcastStop,
  type BroadcastUrl,
  MAX_STREAM_URLS,
  streamUrlFault,
} from '../../contract/broadcasts.ts';
import { RECORDING_LAYOUTS, RECORDING_PRESETS } from '../../contract/choices.ts';
import { shellQuote } from '../../contract/shell-quote.ts';
import { usageError } from '../errors/cli-error.ts';
import { YES } from '../framework/common-options.ts';
import { confirmOnService } from '../framework/confirm-on-service.ts';
import type { Context } from '../framework/context.ts';
import { LIMIT, pagedList } from '../framework/lists/read-pages.ts';
import {
  argument,
  choice,
  defineCommand,
  existing,
  flag,
  listOption,
  ofNoun,
  option,
} from '../framework/parameters.ts';
import { forEachTarget, nameSucceeded } from '../framework/report-error.ts';
import { type Column, instant, record } from '../terminal/result.ts';
import { readSourceLines } from '../terminal/source-text.ts';
import { printHint, printStatus } from '../terminal/terminal.ts';

const ROOM = existing('name of the room', 'rooms');

const FIELDS = [
  'broadcastId',
  'roomId',
  'egressId',
  'status',
  'startedAt',
  'stoppedAt',
  'endedAt',
  'durationMs',
  'sizeBytes',
  'error',
  'urls',
  'hls',
] as const satisfies readonly (keyof Broadcast)[];

const COLUMNS: readonly Column<Broadcast | BroadcastStart>[] = [
  { heading: 'ROOM', value: ({ roomId }) => roomId, paint: 'name' },
  { heading: 'STATUS', value: ({ status }) => status, paint: 'active' },
  { heading: 'BROADCAST-ID', value: ({ broadcastId }) => broadcastId },
  { heading: 'STARTED', value: ({ startedAt }) => instant(startedAt) },
  { heading: 'URLS', value: ({ urls }) => urls.map(describeUrl).join('; ') || undefined },
  {
    heading: 'HLS',
    value: ({ hls }) => (hls === null ? undefined : `${hls.folder}/${hls.livePlaylist}`),
  },
  { heading: 'ERROR', value: ({ error }) => error ?? undefined },
];

function describeUrl({ urlId, url, state, error }: BroadcastUrl): string {
  return `${url} ${state}${error === null ? '' : `: ${error}`} (${urlId})`;
}

/** A stream key must not be in the arguments of a process, which everybody on the machine can read. */
async function readUrls(context: Context): Promise<readonly string[]> {
  const urls = await readSourceLines(context.io, ['-']);
  if (urls.length === 0) throw usageError('stdin has no URL', 'write one URL a line');
  if (urls.length > MAX_STREAM_URLS)
    throw usageError(`stdin has ${urls.length} URLs`, `a broadcast has at most ${MAX_STREAM_URLS}`);
  for (const [index, url] of urls.entries()) {
    const fault = streamUrlFault(url);
    if (fault !== undefined) throw usageError(`line ${index + 1} of stdin ${fault}`, 'nothing was started');
  }
  return urls;
}

const URL_STDIN = flag('--url-stdin', 'read the URLs with their stream keys from stdin, one a line');

const start = defineCommand({
  verb: 'start',
  summary: 'Send a room to RTMP or SRT servers, write HLS, or both',
  description:
    'If the room is already being broadcast, the command succeeds and changes nothing. URLs have stream keys, so they are read from stdin and shown without them.',
  fields: FIELDS,
  arguments: { room: ROOM },
  options: {
    urlStdin: URL_STDIN,
    hls: flag('--hls', 'also write HLS, beside the recordings'),
    layout: option('--layout <layout>', 'arrangement of the people; default grid', choice(RECORDING_LAYOUTS)),
    preset: option(
      '--preset <preset>',
      'size and frames per second; default H264_720P_30',
      choice(RECORDING_PRESETS),
    ),
  },
  examples: [
    { line: 'pass show youtube | rtc broadcast start demo --url-stdin', does: 'To a server with a key' },
    { line: 'rtc broadcast start demo --hls', does: 'As HLS, for your own player' },
  ],
  async run(context, { room, urlStdin, hls, layout, preset }) {
    if (!urlStdin && !hls) throw usageError('it would go nowhere', 'add --url-stdin, --hls or both');
    const urls = urlStdin ? await readUrls(context) : [];
    const client = await context.client();
    printHint(context.terminal, 'Starting a recorder, which may take some seconds …');
    const settings = { urls: [...urls], hls: hls ? {} : undefined, layout, preset };
    const started = await client.broadcasts.start(room, { ...settings, signal: context.io.signal });
    if (started.status === 'already_broadcasting')
      printStatus(context.terminal, `${room} is already being broadcast.`);
    return record(started, COLUMNS, { notes: [`Look at it: rtc broadcast status ${shellQuote(room)}`] });
  },
});

const STATUS_COLUMNS: readonly Column<BroadcastStatus>[] = [
  {
    heading: 'BROADCAST',
    value: ({ isBroadcasting }) => isBroadcasting,
    paint: ({ isBroadcasting }) => (isBroadcasting ? 'active' : undefined),
    display: ({ isBroadcasting }) => (isBroadcasting ? '● on' : 'off'),
  },
  ...COLUMNS.slice(1).map(
    ({ heading, value }): Column<BroadcastStatus> => ({
      heading,
      value: ({ broadcast }) => (broadcast === null ? undefined : value(broadcast)),
    }),
  ),
];

const status = defineCommand({
  verb: 'status',
  summary: 'Show where a room is broadcast to, and the state of each URL',
  fields: ['isBroadcasting', 'broadcast'] satisfies (keyof BroadcastStatus)[],
  arguments: { room: ROOM },
  examples: [{ line: 'rtc broadcast status demo', does: 'The running broadcast, or the last one' }],
  async run(context, { room }) {
    const client = await context.client();
    const response = await client.broadcasts.status(room, { signal: context.io.signal });
    return record(response, STATUS_COLUMNS);
  },
});

const update = defineCommand({
  verb: 'update',
  summary: 'Add URLs to a running broadcast, and remove some',
  fields: FIELDS,
  arguments: { room: ROOM },
  options: {
    urlStdin: URL_STDIN,
    remove: listOption('--remove <id>', 'id of a URL to which it goes no longer'),
  },
  examples: [
    { line: 'pass show twitch | rtc broadcast update demo --url-stdin', does: 'To one server more' },
    { line: 'rtc broadcast update demo --remove bu_7Qd0s9nYkW1xZ3aB', does: 'To one server less' },
  ],
  async run(context, { room, urlStdin, remove }) {
    if (!urlStdin && remove.length === 0)
      throw usageError('nothing would change', 'add --url-stdin or --remove');
    const add = urlStdin ? await readUrls(context) : [];
    const client = await context.client();
    const change = { add: [...add], remove: [...remove] };
    const response = await client.broadcasts.change(room, change, { signal: context.io.signal });
    return record(response, COLUMNS);
  },
});

const STOP_COLUMNS: readonly Column<BroadcastStop>[] = [
  { heading: 'ROOM', value: ({ roomId }) => roomId, paint: 'name' },
  { heading: 'STATUS', value: ({ status: word }) => word },
  { heading: 'BROADCAST-ID', value: ({ broadcastId }) => broadcastId },
  { heading: 'STOPPED', value: ({ stoppedAt }) => instant(stoppedAt) },
];

const stop = defineCommand({
  verb: 'stop',
  summary: 'Stop the broadcast of a room',
  fields: ['broadcastId', 'egressId', 'roomId', 'status', 'stoppedAt'] satisfies (keyof BroadcastStop)[],
  arguments: { room: ROOM },
  examples: [{ line: 'rtc broadcast stop demo', does: 'Ends every URL and the HLS' }],
  async run(context, { room }) {
    const client = await context.client();
    const response = await client.broadcasts.stop(room, { signal: context.io.signal });
    return record(response, STOP_COLUMNS);
  },
});

const list = defineCommand({
  verb: 'list',
  summary: 'List broadcasts, newest first',
  fields: FIELDS,
  options: {
    room: option('--room <room>', 'only those of this room', { completes: 'rooms' }),
    limit: LIMIT,
  },
  examples: [{ line: 'rtc broadcast list --room demo', does: 'Those of one room' }],
  async run(context, { room, ...choices }) {
    const client = await context.client();
    const { signal } = context.io;
    return pagedList(context, choices, {
      name: 'broadcasts',
      read: (page) => client.broadcasts.list({ roomId: room, ...page, signal }),
      columns: COLUMNS,
      identify: ({ broadcastId }) => broadcastId,
      empty: 'No broadcasts. Make one: rtc broadcast start ROOM --hls',
    });
  },
});

const remove = defineCommand({
  verb: 'delete',
  summary: 'Delete a broadcast that has ended, with its HLS',
  arguments: { id: argument('id of the broadcast') },
  options: { yes: YES },
  examples: [{ line: 'rtc broadcast delete bc_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'Asks first' }],
  async run(context, { id, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'deleting a broadcast',
      question: async () => `Delete ${id} and its HLS?`,
    });
    const deleted = await forEachTarget(context, [id], (each) =>
      client.broadcasts.delete(each, { signal: context.io.signal }),
    );
    return nameSucceeded(deleted, (names) => `Deleted ${names}.`);
  },
});

export const commands = ofNoun('broadcast', [start, stop, status, update, list, remove]);
