import type { Context } from '../../framework/context.ts';
import { type OpenedBrowser, presentLink, serveUntilAborted } from '../../pages/present-link.ts';
import { printHint } from '../../terminal/terminal.ts';
import { type PageRequest, type ServedPage, servePage } from './page/page-server.ts';

/* Separate from the command, because an HTTP server takes as long to load as the rest of `rtc rooms list`. */

export type RoomToOpen = Omit<PageRequest, 'client'> & { readonly print: boolean };

/** Serves the page of a room and opens it in the browser, until Ctrl-C. */
export async function openRoom(context: Context, input: RoomToOpen): Promise<void> {
  const page = await servePage(context.io, { client: await context.client(), ...input });
  await serveUntilAborted(context, page, () => present(context, page, input));
}

async function present(
  context: Context,
  { origin, link }: ServedPage,
  { room, print, publicUrl }: RoomToOpen,
): Promise<OpenedBrowser | undefined> {
  const browser = await presentLink(context, {
    origin,
    link,
    opened: `The room ${room} is open in your browser.`,
    isPrinted: print || publicUrl !== undefined,
    isLocal: publicUrl === undefined,
  });
  if (publicUrl !== undefined) await presentPublicly(context, link);
  return browser;
}

async function presentPublicly({ io, terminal }: Context, link: string): Promise<void> {
  printHint(terminal, 'This link works once, within ten minutes.');
  if (io.stderr.isTTY !== true) return;
  const { renderUnicodeCompact } = await import('uqr');
  io.stderr.write(`\n${renderUnicodeCompact(link)}\n\n`);
}
