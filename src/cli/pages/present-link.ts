import type { Context } from '../framework/context.ts';
import { printHint, printStatus } from '../terminal/terminal.ts';
import { type OpenedBrowser, openBrowser } from './open-browser.ts';

export type PresentedLink = {
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
