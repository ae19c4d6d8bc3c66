import { ROLES } from '../../../contract/choices.ts';
import { usageError } from '../../errors/cli-error.ts';
import {
  argument,
  choice,
  defineCommand,
  flag,
  notEmpty,
  option,
  wholeNumber,
} from '../../framework/parameters.ts';
import { nothing } from '../../terminal/result.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const MAX_PORT = 65_535;

export const open = defineCommand({
  noun: 'rooms',
  verb: 'open',
  summary: 'Join a room in the browser',
  description:
    'Serves a page on 127.0.0.1 until Ctrl-C, and opens it. The page has video tiles, camera and microphone, screen share, chat, and captions while a live transcription runs. A host can mute and remove people there. A second tab joins as a second person.',
  needs: 'service',
  arguments: { room: argument('name of the room', { completes: 'rooms' }) },
  options: {
    as: option('--as <identity>', 'identity in the room; default: your user name', { parse: notEmpty }),
    role: option('--role <role>', 'what you may do; default host', choice(ROLES)),
    name: option('--name <name>', 'name that others see; default: the identity', { parse: notEmpty }),
    port: option('--port <port>', 'port of the page; default: a free one', {
      parse: wholeNumber(0, MAX_PORT),
    }),
    publicUrl: option('--public-url <url>', 'https address of a proxy in front of the page, for a phone', {
      parse: httpsUrl,
    }),
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

export const join = defineCommand({
  noun: 'rooms',
  verb: 'join',
  summary: 'Join a room without a browser, to publish or to listen',
  description:
    'Publishes a test pattern (a moving picture and a tone) or a WAV file with 16-bit samples. If ffmpeg is installed, it publishes any other file of sound or pictures. With - it publishes what comes from stdin: WAV, or samples without a header. With --listen it writes what the others say to a WAV file of one channel. It leaves at the end of the file, with Ctrl-C, and when the room ends. Exit codes: 0 if the file has been played, you stopped it, or the room ended without cutting anything off; 7 if the participant was removed or replaced by somebody with the same identity, or the room was closed before the end of the file; 6 if the package @livekit/rtc-node is not installed, or the connection is lost. For load tests use LiveKit’s own tool: lk load-test.',
  needs: 'service',
  arguments: { room: argument('name of the room', { completes: 'rooms' }) },
  options: {
    publish: option('--publish <what>', 'test-pattern, a file, or - for stdin', {
      parse: notEmpty,
      completes: 'files',
    }),
    listen: option('--listen <file>', 'WAV file for what the others say, - for stdout', {
      parse: notEmpty,
      completes: 'files',
    }),
    as: option('--as <identity>', 'identity in the room; default: your user name and a number', {
      parse: notEmpty,
    }),
    name: option('--name <name>', 'name that others see; default: the identity', { parse: notEmpty }),
    role: option('--role <role>', 'what it may do; default participant', choice(ROLES)),
    loop: flag('--loop', 'play the file again and again'),
    rate: option('--rate <n>', `sample rate of stdin without a header; default ${DEFAULT_RATE}`, {
      parse: wholeNumber(8_000, 192_000),
    }),
    channels: option('--channels <n>', 'channels of stdin without a header; default 1', {
      parse: wholeNumber(1, 2),
    }),
  },
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

type Typed = {
  readonly publish: string | undefined;
  readonly listen: string | undefined;
  readonly role: string | undefined;
  readonly loop: boolean;
  readonly rate: number | undefined;
  readonly channels: number | undefined;
};

/** @throws CliError (usage) for contradictory options */
function checkTogether(typed: Typed, { json }: Terminal): void {
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
