import { ROLES } from '../../../contract/choices.ts';
import { usageError } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import type { Context } from '../../framework/context.ts';
import { argument, flag, notEmpty, oneOf, option, wholeNumber } from '../../framework/parameters.ts';
import { nothing } from '../../terminal/result.ts';
import { printHint, printStatus } from '../../terminal/terminal.ts';
import { type OpenedBrowser, openBrowser } from './page/open-browser.ts';
import { userIdentity } from './page/seats.ts';
import { type ServedPage, servePage } from './page/serve-page.ts';

const MAX_PORT = 65_535;

export const open = defineCommand({
  noun: 'rooms',
  verb: 'open',
  summary: 'Join a room in the browser',
  description:
    'Serves one page on 127.0.0.1 and opens it: tiles, camera and microphone, screen share, chat, and captions while a live transcription runs. A host mutes and removes people there. The page works until Ctrl-C. A second tab joins as a second person.',
  needs: 'service',
  arguments: { room: argument('name of the room', { completes: 'rooms' }) },
  options: {
    as: option('--as <identity>', 'identity in the room; default: your user name', { parse: notEmpty }),
    role: option('--role <role>', 'what you may do; default host', oneOf(ROLES)),
    name: option('--name <name>', 'name that others see; default: the identity', { parse: notEmpty }),
    port: option('--port <port>', 'port of the page; default: a free one', {
      parse: wholeNumber(0, MAX_PORT),
    }),
    publicUrl: option('--public-url <url>', 'https address of a proxy in front of the page, for a phone', {
      parse: httpsUrl,
    }),
    print: flag('--print', 'print the link and open no browser'),
  },
  examples: [
    { line: 'rtc rooms open demo', does: 'Joins as host, in the browser of this machine' },
    { line: 'rtc rooms open demo --as ada --role viewer', does: 'Watches and listens only' },
    { line: 'rtc rooms open demo --print', does: 'Prints the link, for another browser' },
    {
      line: 'rtc rooms open demo --port 8080 --public-url https://call.example.org',
      does: 'For a phone, through a proxy that leads to port 8080; shows a QR code',
    },
  ],
  isStream: () => true,
  async run(context, input) {
    const { io } = context;
    const identity = input.as ?? userIdentity(io.env);
    const page = await servePage(io, {
      client: await context.client(),
      room: input.room,
      person: { identity, name: input.name ?? identity, role: input.role ?? 'host' },
      port: input.port ?? 0,
      publicUrl: input.publicUrl,
    });
    let browser: OpenedBrowser | undefined;
    try {
      browser = await present(context, page, input);
      await untilAborted(io.signal);
    } finally {
      await browser?.close();
      await page.close();
    }
    return nothing();
  },
});

type Presentation = { readonly room: string; readonly print: boolean; readonly publicUrl: URL | undefined };

/** Opens the browser, or prints the link where there is none to open. */
async function present(
  context: Context,
  { origin, link }: ServedPage,
  { room, print, publicUrl }: Presentation,
): Promise<OpenedBrowser | undefined> {
  const { io, terminal } = context;
  const ssh = publicUrl === undefined ? io.env.SSH_CONNECTION?.split(' ') : undefined;
  if (ssh !== undefined) {
    const { port } = new URL(origin);
    const host = `${io.env.USER ?? 'you'}@${ssh[2] ?? 'this-machine'}`;
    printStatus(terminal, `On your own machine run: ssh -N -L ${port}:127.0.0.1:${port} ${host}`);
  }
  const isPrinted = print || publicUrl !== undefined || ssh !== undefined || io.stdout.isTTY !== true;
  const browser = isPrinted ? undefined : await openBrowser(io, link);
  if (browser === undefined) {
    io.stdout.write(terminal.json === undefined ? `${link}\n` : `${JSON.stringify({ link })}\n`);
  } else {
    printStatus(terminal, `The room ${room} is open in your browser.`);
  }
  if (publicUrl !== undefined) await presentPublicly(context, link);
  printHint(terminal, 'The page works until Ctrl-C.');
  return browser;
}

async function presentPublicly({ io, terminal }: Context, link: string): Promise<void> {
  printHint(terminal, 'This link works once, within ten minutes.');
  if (io.stderr.isTTY !== true) return;
  const { renderUnicodeCompact } = await import('uqr');
  io.stderr.write(`\n${renderUnicodeCompact(link)}\n\n`);
}

function httpsUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' && url.pathname === '/') return url;
  throw usageError(
    `${JSON.stringify(text)} is not an https address without a path; browsers give camera and microphone to https only`,
  );
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
