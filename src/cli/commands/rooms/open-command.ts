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
