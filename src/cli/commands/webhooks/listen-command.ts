import { defineCommand } from '../../framework/command.ts';
import { flag } from '../../framework/parameters.ts';
import { nothing, text } from '../../terminal/result.ts';
import { printHint } from '../../terminal/terminal.ts';
import { EVENT_FILTER } from '../events/event-options.ts';
import { EVENT_FIELDS } from '../events/event-view.ts';
import { tailEvents } from '../events/follow.ts';
import { FORWARD_TO, forward, readSigner, SECRET_VARIABLE } from '../events/forward.ts';

export const listen = defineCommand({
  noun: 'webhooks',
  verb: 'listen',
  summary: 'Show events as they happen, and forward them to a receiver on this machine, for development',
  description: `Registers nothing: it follows the service's events from now on. With --forward-to it posts each to the receiver, with both signatures, as a webhook would get it. The signing secret is printed; it is the same each time, unless ${SECRET_VARIABLE} is set. While the receiver is down events wait, in their order; an answer other than 2xx is shown and not tried again.`,
  needs: 'service',
  fields: ({ forwardTo, printSecret }) => {
    if (printSecret) return ['secret'];
    return forwardTo === undefined ? EVENT_FIELDS : [];
  },
  arguments: {},
  options: {
    forwardTo: FORWARD_TO,
    events: EVENT_FILTER.events,
    room: EVENT_FILTER.room,
    printSecret: flag('--print-secret', 'print the signing secret and end'),
  },
  examples: [
    { line: 'rtc webhooks listen', does: 'A line for every event, until Ctrl-C' },
    {
      line: 'rtc webhooks listen --forward-to http://localhost:4000/hook',
      does: 'Each event goes to a receiver, and what it answers is shown',
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
    const following = { events, room, since: undefined, cursor: undefined };
    if (forwardTo !== undefined) await forward(context, { url: forwardTo, ...following });
    else {
      const onReady = (): void =>
        printHint(context.terminal, 'Following; to a receiver too: --forward-to 4000. Ctrl-C ends.');
      await tailEvents(context, { client: await context.client(), ...following, onReady });
    }
    return nothing();
  },
});
