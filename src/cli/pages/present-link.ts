import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../framework/context.ts';
import type { Io } from '../terminal/io.ts';
import { printHint, printStatus } from '../terminal/terminal.ts';

type PresentedLink = {
  /** The page's origin on this machine. */
  readonly origin: string;
  readonly link: string;
  /** The text to print once a browser was opened. */
  readonly opened: string;
  /** Whether the link is printed in any case. */
  readonly isPrinted: boolean;
  /** Whether the page is served on a port of this machine, which has to be forwarded over SSH. */
  readonly isLocal: boolean;
};

/** Opens the browser, or prints the link when there is no browser to open. */
export async function presentLink(
  { io, terminal }: Context,
  { origin, link, opened, isPrinted, isLocal }: PresentedLink,
): Promise<OpenedBrowser | undefined> {
  const ssh = isLocal ? io.env.SSH_CONNECTION?.split(' ') : undefined;
  if (ssh !== undefined) {
    const { port } = new URL(origin);
    const host = `${io.env.USER ?? 'you'}@${ssh[2] ?? 'this-machine'}`;
    printStatus(terminal, `On your own machine run: ssh -N -L ${port}:127.0.0.1:${port} ${host}`);
  }
  const mustPrint = isPrinted || ssh !== undefined || io.stdout.isTTY !== true;
  const browser = mustPrint ? undefined : await openBrowser(io, link);
  if (browser === undefined) {
    io.stdout.write(terminal.json === undefined ? `${link}\n` : `${JSON.stringify({ link })}\n`);
  } else {
    printStatus(terminal, opened);
  }
  return browser;
}

/** Resolves at Ctrl-C. Until then `page` is served and the browser may read the file that redirects to it. */
export async function serveUntilAborted(
  context: Context,
  page: { readonly close: () => Promise<void> },
  present: () => Promise<OpenedBrowser | undefined>,
): Promise<void> {
  let browser: OpenedBrowser | undefined;
  try {
    browser = await present();
    printHint(context.terminal, 'The page works until Ctrl-C.');
    await untilAborted(context.io.signal);
  } finally {
    await browser?.close();
    await page.close();
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/*
 * The link has a code that grants access, which must not be in the arguments of a process, where every user of the machine
 * can read it. Therefore the browser gets a file that only we can read, and that redirects to the link.
 */

export type OpenedBrowser = { readonly close: () => Promise<void> };

/** Opens the browser. Returns undefined when no program opens links; then the link has to be printed. */
export async function openBrowser(
  io: Pick<Io, 'env' | 'runtime'>,
  link: string,
): Promise<OpenedBrowser | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-open-'));
  const close = () => rm(folder, { recursive: true, force: true });
  const file = join(folder, 'open.html');
  await writeFile(file, redirectPage(link), { mode: 0o600, flag: 'wx' });
  if (await runOpener(io, file)) return { close };
  await close();
  return undefined;
}

function redirectPage(link: string): string {
  const escaped = link.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${escaped}"><title>Opening the page</title>\n`;
}

const OPENERS: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  // Not with cmd, which would read a & in the name of a user's folder as the end of the command.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

/** Returns whether the program started. Its later errors are unknown. */
async function runOpener({ env, runtime }: Pick<Io, 'env' | 'runtime'>, file: string): Promise<boolean> {
  const chosen = env.BROWSER;
  const [program, ...args] =
    chosen === undefined || chosen === '' ? (OPENERS[runtime.platform] ?? ['xdg-open']) : [chosen];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, [...args, file], { detached: true, stdio: 'ignore' });
  child.once('error', () => resolve(false));
  child.once('spawn', () => resolve(true));
  child.unref();
  return await promise;
}
