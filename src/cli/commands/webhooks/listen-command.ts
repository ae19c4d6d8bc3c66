import type { RtcClient } from '../../../client/client.ts';
import { openClient } from '../../connection/connect.ts';
import { readCredentials } from '../../connection/settings.ts';
import { usageError } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import type { Context } from '../../framework/context.ts';
import { flag, option } from '../../framework/parameters.ts';
import { nothing, text } from '../../terminal/result.ts';
import { EVENT_FILTER } from '../events/event-options.ts';
import { forwardEvents } from '../events/follow.ts';
import { deriveListenSecret, SECRET_VARIABLE, secretOfEnvironment } from './webhook-secret.ts';

/** `http://localhost:4000/hook`, `localhost:4000/hook` or `4000`. */
function receiverUrl(word: string): URL {
  const full = /^\d+$/.test(word) ? `http://localhost:${word}/` : word;
  const url = URL.parse(/^\w+:\/\//.test(full) ? full : `http://${full}`);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) {
    if (url.username === '' && url.password === '') return url;
    throw usageError('must not carry a user name or password', 'leave it out of the address');
  }
  throw usageError(
    `${JSON.stringify(word)} is no address of a receiver`,
    'write it such as http://localhost:4000/hook, or 4000 for a port of this machine',
  );
}

export const FORWARD_TO = option(
  '--forward-to <url>',
  'receiver, such as http://localhost:4000/hook or 4000',
  {
    parse: receiverUrl,
  },
);

export const listen = defineCommand({
  noun: 'webhooks',
  verb: 'listen',
  summary: 'Forward events to a receiver on this machine, for development',
  description: `Registers nothing: it follows the service's events from now on and posts each to the receiver, with both signatures, as a webhook would get it. The signing secret is printed; it is the same each time, unless ${SECRET_VARIABLE} is set. While the receiver is down events wait, in their order; an answer other than 2xx is shown and not tried again.`,
  needs: 'service',
  arguments: {},
  options: {
    forwardTo: FORWARD_TO,
    events: EVENT_FILTER.events,
    room: EVENT_FILTER.room,
    printSecret: flag('--print-secret', 'print the signing secret and end'),
  },
  examples: [
    {
      line: 'rtc webhooks listen --forward-to http://localhost:4000/hook',
      does: 'A line for every event and for every answer, until Ctrl-C',
    },
    { line: 'rtc webhooks listen --forward-to 4000 --events room_started,room_finished', does: 'Two events' },
    {
      line: `export ${SECRET_VARIABLE}=$(rtc webhooks listen --print-secret)`,
      does: 'For the receiver to verify with',
    },
  ],
  isStream: (input) => !input.printSecret,
  async run(context, { forwardTo, events, room, printSecret }) {
    if (printSecret) {
      const { secret } = await readSigner(context);
      return text(secret, { answer: { secret }, fields: ['secret'] });
    }
    const url = forwardTo ?? (await askWhere(context));
    await forward(context, { url, events, room, since: undefined, cursor: undefined });
    return nothing();
  },
});

type ForwardOptions = Pick<
  Parameters<typeof forwardEvents>[1],
  'url' | 'events' | 'room' | 'since' | 'cursor'
>;

/** Forwards until the signal, after it has said where to and with which secret. */
export async function forward(context: Context, options: ForwardOptions): Promise<void> {
  const { secret, isOurs, open } = await readSigner(context);
  const client = await open();
  try {
    await forwardEvents(context, {
      ...options,
      client,
      secret,
      onReady: () => announce(context, options, isOurs ? undefined : secret),
    });
  } finally {
    await client.close();
  }
}

async function askWhere({ prompter }: Context): Promise<URL> {
  if (prompter.isInteractive) return receiverUrl(await prompter.text('Address of the receiver:'));
  throw usageError(
    'missing --forward-to',
    'add it, such as --forward-to http://localhost:4000/hook; to see events only: rtc events tail',
  );
}

type Signer = {
  readonly secret: string;
  /** From the user's own environment: not to be printed. */
  readonly isOurs: boolean;
  readonly open: () => Promise<RtcClient>;
};

/** Credentials are read once for both: stdin and a secret command cannot be asked twice. */
async function readSigner(context: Context): Promise<Signer> {
  const own = secretOfEnvironment(context);
  const settings = await context.settings();
  const credentials = await readCredentials(settings);
  return {
    secret: own ?? deriveListenSecret(credentials),
    isOurs: own !== undefined,
    open: () => openClient(context, { url: settings.url.value, ...credentials }),
  };
}

function announce(
  { screen }: Context,
  { url, events, room }: ForwardOptions,
  secret: string | undefined,
): void {
  const { heading, name, faint } = screen.errorPalette;
  const what = events === undefined || events.includes('*') ? 'Events' : events.join(', ');
  const where = room === undefined ? '' : ` of ${JSON.stringify(room)}`;
  const signed =
    secret === undefined
      ? `Signed with ${SECRET_VARIABLE}.`
      : `Signing secret: ${name(secret)}\n${faint('Again: rtc webhooks listen --print-secret')}`;
  screen.io.stderr.write(`${heading('Ready.')} ${what}${where} go to ${url.href}; Ctrl-C ends.\n${signed}\n`);
}
