import { usageError } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import type { Context } from '../../framework/context.ts';
import { flag } from '../../framework/parameters.ts';
import { nothing, text } from '../../terminal/result.ts';
import { EVENT_FILTER } from '../events/event-options.ts';
import { FORWARD_TO, forward, readSigner, receiverUrl, SECRET_VARIABLE } from '../events/forward.ts';

export const listen = defineCommand({
  noun: 'webhooks',
  verb: 'listen',
  summary: 'Forward events to a receiver on this machine, for development',
  description: `Registers nothing: it follows the service's events from now on and posts each to the receiver, with both signatures, as a webhook would get it. The signing secret is printed; it is the same each time, unless ${SECRET_VARIABLE} is set. While the receiver is down events wait, in their order; an answer other than 2xx is shown and not tried again.`,
  needs: 'service',
  fields: ({ printSecret }) => (printSecret ? ['secret'] : []),
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
      return text(secret, { response: { secret } });
    }
    const url = forwardTo ?? (await askWhere(context));
    await forward(context, { url, events, room, since: undefined, cursor: undefined });
    return nothing();
  },
});

async function askWhere({ prompter }: Context): Promise<URL> {
  if (prompter.isInteractive) return receiverUrl(await prompter.text('Address of the receiver:'));
  throw usageError(
    'missing --forward-to',
    'add it, such as --forward-to http://localhost:4000/hook; to see events only: rtc events tail',
  );
}
