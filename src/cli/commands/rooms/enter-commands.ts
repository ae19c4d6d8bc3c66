import { plural } from '../../../contract/amounts.ts';
import { ROLES } from '../../../contract/choices.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import type { AdmittedPerson, WaitingPerson } from '../../../contract/waiting.ts';
import { usageError } from '../../errors/cli-error.ts';
import { WATCH } from '../../framework/common-options.ts';
import type { Context } from '../../framework/context.ts';
import { watchList } from '../../framework/lists/watch-list.ts';
import {
  argument,
  choice,
  defineCommand,
  flag,
  listOfExisting,
  option,
  optionalListArgument,
  type Values,
  wholeNumber,
} from '../../framework/parameters.ts';
import { forEachTarget, nameSucceeded } from '../../framework/report-error.ts';
import { type Column, instant, type ListResult, list, nothing } from '../../terminal/result.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const MAX_PORT = 65_535;

export const open = defineCommand({
  verb: 'open',
  summary: 'Join a room in the browser',
  description:
    'Serves a page on 127.0.0.1 until Ctrl-C, and opens it. The page has video tiles, camera and microphone, screen share, chat, and captions while a live transcription runs. A host can mute and remove people there. A second tab joins as a second person.',
  arguments: { room: argument('name of the room', { completes: 'rooms' }) },
  options: {
    as: option('--as <identity>', 'identity in the room; default: your user name'),
    role: option('--role <role>', 'what you may do; default host', choice(ROLES)),
    name: option('--name <name>', 'name that others see; default: the identity'),
    port: option('--port <port>', 'port of the page; default: a free one', wholeNumber(0, MAX_PORT)),
    publicUrl: option(
      '--public-url <url>',
      'https address of a proxy in front of the page, for a phone',
      httpsUrl,
    ),
    print: flag('--print', 'print the link, and do not open a browser'),
  },
  examples: [
    { line: 'rtc rooms open demo', does: 'Join as host, in the browser of this machine' },
    { line: 'rtc rooms open demo --as ada --role viewer', does: 'Watch and listen only' },
    { line: 'rtc rooms open demo --print', does: 'Print the link, for another browser' },
    {
      line: 'rtc rooms open demo --port 8080 --public-url https://call.example.org',
      does: 'For a phone, by a proxy in front of port 8080; shows a QR code',
    },
  ],
  isStream: () => true,
  async run(context, input) {
    const { openRoom } = await import('./open-room.ts');
    await openRoom(context, input);
    return nothing();
  },
});

function httpsUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' && url.pathname === '/') return url;
  throw usageError(
    `${JSON.stringify(text)} is not an https address without a path; browsers give camera and microphone to https only`,
  );
}

const DEFAULT_RATE = 48_000;

const JOIN_OPTIONS = {
  publish: option('--publish <what>', 'test-pattern, a file, or - for stdin', { completes: 'files' }),
  listen: option('--listen <file>', 'WAV file for what the others say, - for stdout', {
    completes: 'files',
  }),
  as: option('--as <identity>', 'identity in the room; default: your user name and a number'),
  name: option('--name <name>', 'name that others see; default: the identity'),
  role: option('--role <role>', 'what it may do; default participant', choice(ROLES)),
  loop: flag('--loop', 'play the file again and again'),
  rate: option(
    '--rate <n>',
    `sample rate of stdin without a header; default ${DEFAULT_RATE}`,
    wholeNumber(8_000, 192_000),
  ),
  channels: option('--channels <n>', 'channels of stdin without a header; default 1', wholeNumber(1, 2)),
};

export const join = defineCommand({
  verb: 'join',
  summary: 'Join a room without a browser, to publish or to listen',
  description:
    'Publishes a test pattern (a moving picture and a tone) or a WAV file with 16-bit samples. If ffmpeg is installed, it publishes any other file of sound or pictures. With - it publishes what comes from stdin: WAV, or samples without a header. With --listen it writes what the others say to a WAV file of one channel. It leaves at the end of the file, with Ctrl-C, and when the room ends. Exit codes: 0 if the file has been played, you stopped it, or the room ended without cutting anything off; 7 if the participant was removed or replaced by somebody with the same identity, or the room was closed before the end of the file; 6 if the package @livekit/rtc-node is not installed, or the connection is lost. For load tests use LiveKit’s own tool: lk load-test.',
  arguments: { room: argument('name of the room', { completes: 'rooms' }) },
  options: JOIN_OPTIONS,
  examples: [
    {
      line: 'rtc rooms join demo --publish test-pattern',
      does: 'A test picture and tone, until Ctrl-C',
    },
    { line: 'rtc rooms join demo --publish question.wav --as ada', does: 'Play a file, then leave' },
    { line: 'rtc rooms join demo --publish talk.mp4 --loop', does: 'A film, again and again' },
    { line: 'rtc rooms join demo --listen said.wav', does: 'Record what is said, until Ctrl-C' },
    {
      line: 'espeak-ng "Good morning" --stdout | rtc rooms join demo --publish -',
      does: 'Publish the output of another program',
    },
  ],
  isStream: () => true,
  async run(context, input) {
    checkTogether(input, context.terminal);
    const { joinAndStay } = await import('./join-and-stay.ts');
    const { room, publish, listen, loop, role = 'participant', rate = DEFAULT_RATE, channels = 1 } = input;
    const identity = input.as ?? `${userName(context.io.env)}-${context.io.processId}`;
    const exitCode = await joinAndStay(context, {
      person: { room, identity, name: input.name ?? identity, role },
      publish: publish === 'test-pattern' ? { parts: ['audio', 'video'] } : publish,
      listen,
      isLooped: loop,
      raw: { sampleRate: rate, channels },
    });
    return nothing({ exitCode });
  },
});

/** @throws CliError (usage) for contradictory options */
function checkTogether(typed: Values<typeof JOIN_OPTIONS>, { json }: Terminal): void {
  const { publish, listen, role, loop, rate, channels } = typed;
  if (publish !== undefined && role === 'viewer') {
    throw usageError('a viewer may not publish', 'leave out --publish, or take another --role');
  }
  if (loop && (publish === undefined || publish === '-')) {
    throw usageError('--loop needs a file that can be read again', 'give --publish FILE');
  }
  if ((rate !== undefined || channels !== undefined) && publish !== '-') {
    throw usageError('--rate and --channels are for stdin', 'give --publish -');
  }
  if (rate !== undefined && !Number.isInteger(rate / 50)) {
    throw usageError(
      `--rate ${rate} is not a sample rate that rooms support`,
      'such as 16000, 44100 or 48000',
    );
  }
  if (listen === '-' && json !== undefined) {
    throw usageError('--json and --listen - both want stdout', 'name a file to listen to');
  }
}

function userName({ USER, USERNAME }: Readonly<Record<string, string | undefined>>): string {
  return USER ?? USERNAME ?? 'rtc';
}

const ROOM = argument('name of the room', { completes: 'rooms' });

const COLUMNS: readonly Column<WaitingPerson>[] = [
  { heading: 'IDENTITY', value: ({ identity }) => identity, paint: 'name' },
  { heading: 'NAME', value: ({ name }) => name },
  { heading: 'ROLE', value: ({ role }) => role },
  { heading: 'WAITING', value: ({ waitingSince }) => instant(waitingSince) },
];

export const waiting = defineCommand({
  verb: 'waiting',
  summary: 'List the people who wait to be admitted',
  description: 'The longest first. The room need not be open.',
  fields: ['identity', 'name', 'role', 'waitingSince'] satisfies readonly (keyof WaitingPerson)[],
  arguments: { room: ROOM },
  options: { watch: WATCH },
  examples: [
    { line: 'rtc rooms waiting lesson-7', does: 'Who waits, and since when' },
    { line: 'rtc rooms waiting lesson-7 --watch', does: 'The same, updated live' },
  ],
  async run(context, { room, watch }) {
    const read = (): Promise<ListResult> => readWaiting(context, room);
    return watch ? watchList(context, read) : read();
  },
});

async function readWaiting(context: Context, room: string): Promise<ListResult> {
  const client = await context.client();
  const found = await client.waiting.list(room, { signal: context.io.signal });
  return list({
    response: found,
    records: found.waiting,
    columns: COLUMNS,
    identify: ({ identity }) => identity,
    empty: found.lobby
      ? `Nobody waits for ${room}.`
      : `${room} has no lobby. Give it one: rtc rooms create ${shellQuote(room)} --lobby`,
  });
}

export const admit = defineCommand({
  verb: 'admit',
  summary: 'Admit people who wait for a room',
  description:
    'They get a token of the room at once, and with --json it is printed too. Somebody who was admitted already gets another token.',
  fields: [
    'identity',
    'name',
    'role',
    'token',
    'url',
    'expiresAt',
  ] satisfies readonly (keyof AdmittedPerson)[],
  arguments: {
    room: ROOM,
    identities: optionalListArgument('identity of somebody who waits, or of several', {
      completes: 'waiting',
    }),
  },
  options: { all: flag('--all', 'admit everybody who waits') },
  examples: [
    { line: 'rtc rooms admit lesson-7 ada', does: 'Let ada in' },
    { line: 'rtc rooms admit lesson-7 --all', does: 'Let everybody in who waits' },
  ],
  async run(context, { room, identities, all }) {
    if (all === identities.length > 0) throw usageError('give identities, or --all');
    const client = await context.client();
    const { signal } = context.io;
    if (all) return admittedList((await client.waiting.admitAll(room, { signal })).admitted, room);
    const admitted: AdmittedPerson[] = [];
    const { exitCode } = await forEachTarget(context, identities, async (identity) => {
      admitted.push(await client.waiting.admit({ room, identity }, { signal }));
    });
    if (admitted.length === 0) return nothing({ exitCode });
    return { ...admittedList(admitted, room), exitCode };
  },
});

function admittedList(admitted: readonly AdmittedPerson[], room: string): ListResult {
  return list({
    response: { admitted },
    records: admitted,
    columns: [
      { heading: 'IDENTITY', value: ({ identity }) => identity, paint: 'name' },
      { heading: 'NAME', value: ({ name }) => name },
      { heading: 'ROLE', value: ({ role }) => role },
    ],
    identify: ({ identity }) => identity,
    notes: admitted.length === 0 ? [] : [`Admitted ${plural(admitted.length, 'person', 'people')}.`],
    empty: `Nobody waits for ${room}.`,
  });
}

export const deny = defineCommand({
  verb: 'deny',
  summary: 'Deny people who wait for a room',
  description:
    'They are disconnected, and cannot come again with the same token. To keep somebody out for longer: rtc participants remove ROOM IDENTITY --block 1h.',
  arguments: { room: ROOM, identities: listOfExisting('identity of somebody who waits', 'waiting') },
  examples: [{ line: 'rtc rooms deny lesson-7 eve', does: 'eve is disconnected' }],
  async run(context, { room, identities }) {
    const client = await context.client();
    const { signal } = context.io;
    const results = await forEachTarget(context, identities, (identity) =>
      client.waiting.deny({ room, identity }, { signal }),
    );
    return nameSucceeded(results, (names) => `Denied ${names}.`);
  },
});
