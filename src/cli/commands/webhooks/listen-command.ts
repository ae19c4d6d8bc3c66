import { defineCommand } from '../../framework/command.ts';
import { flag } from '../../framework/parameters.ts';
import { nothing, text } from '../../terminal/result.ts';
import { printHint } from '../../terminal/terminal.ts';
import { EVENT_FIELDS, EVENT_FILTER } from '../events/event-view.ts';
import { tailEvents } from '../events/follow.ts';
import { FORWARD_TO, forward, readSigner, SECRET_VARIABLE } from '../events/forward.ts';

export const listen = defineCommand({
  noun: 'webhooks',
  verb: 'listen',
  summary: 'Show events live, and forward them to a local receiver, for development',
  description: `Follows the service's events from now on, without registering a webhook. With --forward-to it posts each event to the receiver as a webhook would, with both signatures. It prints the signing secret, which is the same each time, unless you set ${SECRET_VARIABLE}. While the receiver is down, events wait in their order. A response other than 2xx is shown and not retried.`,
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
    printSecret: flag('--print-secret', 'print the signing secret and exit'),
  },
  examples: [
    { line: 'rtc webhooks listen', does: 'One line per event, until Ctrl-C' },
    {
      line: 'rtc webhooks listen --forward-to http://localhost:4000/hook',
      does: 'Forward each event to a receiver, and show its response',
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
        printHint(
          context.terminal,
          'Following. To forward events to a receiver, add --forward-to 4000. Press Ctrl-C to end.',
        );
      await tailEvents(context, { client: await context.client(), ...following, onReady });
    }
    return nothing();
  },
});
