import { shellQuote } from '../../../contract/shell-quote.ts';
import { readCredentials, type Settings } from '../../connection/settings.ts';
import type { Context } from '../../framework/context.ts';
import { defineCommand, flag, ofNoun, option, wholeNumber } from '../../framework/parameters.ts';
import { presentLink, serveUntilAborted } from '../../pages/present-link.ts';
import { nothing } from '../../terminal/result.ts';
import { checkSettings } from '../doctor/checks.ts';
import { serveConsole } from './serve-console.ts';

const MAX_PORT = 65_535;

const openConsole = defineCommand({
  summary: 'Operate everything in the browser',
  description:
    'Serves a web application on 127.0.0.1 until Ctrl-C, and opens it. It shows rooms, sessions, recordings with their transcripts, webhooks with every delivery, events, ingress, the audit log, the checks of rtc doctor, and fiscal codes. It signs with the profile’s key, which never reaches the browser.',
  options: {
    readOnly: flag('--read-only', 'refuse every change'),
    port: option('--port <port>', 'port of the page; default: a free one', wholeNumber(0, MAX_PORT)),
    print: flag('--print', 'print the link, and do not open a browser'),
  },
  examples: [
    { line: 'rtc console', does: 'Open it in the browser of this machine' },
    { line: 'rtc console --profile prod --read-only', does: 'Look only, change nothing' },
    { line: 'rtc console --print --port 8080', does: 'Print the link, for another browser' },
  ],
  isStream: () => true,
  async run(context, { readOnly, port, print }) {
    const settings = await context.settings();
    const page = await serveConsole(context, {
      client: await context.client(),
      credentials: await readCredentials(settings),
      info: {
        profile: settings.profile ?? null,
        url: settings.url.value,
        isProtected: settings.isProtected,
        isReadOnly: readOnly,
        commandOptions: formatOptions(context, settings),
      },
      checkSettings: async () => (await checkSettings(context)).checks,
      port: port ?? 0,
    });
    await serveUntilAborted(context, page, () =>
      presentLink(context, {
        ...page,
        opened: `The console of ${settings.url.value} is open in your browser.`,
        isPrinted: print,
        isLocal: true,
      }),
    );
    return nothing();
  },
});

export const commands = ofNoun('console', [openConsole]);

/** Returns the options with which a copied command reaches the same service, as they were given here. */
function formatOptions({ flags }: Context, { url }: Settings): string {
  if (flags.profile !== undefined) return ` --profile ${shellQuote(flags.profile)}`;
  return flags.url === undefined ? '' : ` --url ${shellQuote(url.value)}`;
}
