import { randomUUID } from 'node:crypto';
import manifest from '../../../../package.json' with { type: 'json' };
import { EVENT_NAMES, eventTypeOf } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import { EXIT, usageError } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import type { Context } from '../../framework/context.ts';
import { argument, notEmpty, option } from '../../framework/parameters.ts';
import { type Column, record } from '../../terminal/result.ts';
import { printHint } from '../../terminal/terminal.ts';
import { KNOWN_EVENTS } from '../events/event-options.ts';
import { readSigner, receiverUrl, SECRET_VARIABLE, secretOfEnvironment } from '../events/forward.ts';
import type { PostOutcome } from '../events/post-event.ts';
import { sampleEvent } from './sample-events.ts';
import { readGivenSecret, SECRET_STDIN } from './webhook-arguments.ts';

const DEFAULT_ROOM = 'demo';

type Triggered = {
  readonly delivered: boolean;
  /** 0 without a response. */
  readonly statusCode: number;
  readonly error: string | null;
  readonly url: string;
  readonly event: Event;
};

const COLUMNS: readonly Column<Triggered>[] = [
  { heading: 'EVENT', value: ({ event }) => event.event, paint: 'name' },
  { heading: 'EVENT-ID', value: ({ event }) => event.id },
  {
    heading: 'DELIVERED',
    value: ({ delivered }) => delivered,
    paint: ({ delivered }) => (delivered ? 'good' : 'bad'),
  },
  {
    heading: 'STATUS-CODE',
    value: ({ statusCode }) => statusCode,
    display: ({ statusCode }) => (statusCode === 0 ? 'no response' : `${statusCode}`),
  },
  { heading: 'ERROR', value: ({ error }) => error ?? undefined },
];

export const trigger = defineCommand({
  noun: 'webhooks',
  verb: 'trigger',
  summary: 'Send a signed sample event to a receiver',
  description: `For testing a receiver: nothing happens in a room, and nothing is registered, logged or retried. The event is sent once, from this machine. With --to it is signed with $${SECRET_VARIABLE}, or with the secret of rtc webhooks listen. With --webhook it needs the secret of that webhook, in $${SECRET_VARIABLE} or with --secret-stdin, since the service does not reveal it. The exit code is 7 if the receiver does not respond with 2xx.`,
  needs: 'service',
  fields: ['delivered', 'statusCode', 'error', 'url', 'event'] satisfies (keyof Triggered)[],
  arguments: { event: argument('name of the event', { choices: KNOWN_EVENTS, completes: 'events' }) },
  options: {
    to: option('--to <url>', 'receiver, such as http://localhost:4000/hook or 4000', { parse: receiverUrl }),
    webhook: option('--webhook <id>', 'address of this registered webhook', {
      parse: notEmpty,
      completes: 'webhooks',
    }),
    room: option('--room <room>', `room of the event; default ${DEFAULT_ROOM}`, { parse: notEmpty }),
    secretStdin: SECRET_STDIN,
  },
  examples: [
    { line: 'rtc webhooks trigger participant_joined --to 4000', does: 'To a port of this machine' },
    {
      line: 'rtc webhooks trigger egress_ended --room demo --to http://localhost:4000/hook --json event',
      does: 'Show what was sent',
    },
    {
      line: 'pass show hook | rtc webhooks trigger room_finished --webhook wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --secret-stdin',
      does: 'To a registered webhook',
    },
  ],
  async run(context, { event: name, to, webhook, room = DEFAULT_ROOM, secretStdin }) {
    const url = await urlOf(context, to, webhook);
    const given = (await readGivenSecret(context, { secretStdin })) ?? secretOfEnvironment(context);
    if (given === undefined && webhook !== undefined) {
      throw usageError(
        'the signing secret of the webhook is missing',
        `set ${SECRET_VARIABLE}, or pipe it in with --secret-stdin`,
      );
    }
    const secret = given ?? (await readSigner(context)).secret;
    const nowMs = context.io.clock();
    const event = sampleEvent({ ...eventOf(name), room, nowMs, id: randomUUID().replaceAll('-', '') });
    if (given === undefined) {
      printHint(context.terminal, 'Signed with the secret that rtc webhooks listen --print-secret prints.');
    }
    const triggered = triggeredOf(url, event, await post(context, { url, secret, event, nowMs }));
    return record({
      response: triggered,
      record: triggered,
      columns: COLUMNS,
      exitCode: triggered.delivered ? EXIT.success : EXIT.negative,
    });
  },
});

async function urlOf(context: Context, to: URL | undefined, webhook: string | undefined): Promise<URL> {
  if (to !== undefined && webhook !== undefined) {
    throw usageError('--to and --webhook exclude each other', 'leave one of them out');
  }
  if (to !== undefined) return to;
  if (webhook !== undefined) {
    const client = await context.client();
    return new URL((await client.webhooks.get(webhook, { signal: context.io.signal })).url);
  }
  if (context.prompter.isInteractive) {
    return receiverUrl(await context.prompter.text('Address of the receiver:'));
  }
  throw usageError('missing --to or --webhook', 'add one, such as --to http://localhost:4000/hook');
}

function eventOf(word: string) {
  const type = eventTypeOf(word);
  const name = EVENT_NAMES.find((known) => known === word);
  if (type !== undefined && name !== undefined) return { type, name };
  throw usageError(`${JSON.stringify(word)} is not one event`, `choose from ${KNOWN_EVENTS.join(', ')}`);
}

type Sending = { readonly url: URL; readonly secret: string; readonly event: Event; readonly nowMs: number };

async function post({ io }: Context, sending: Sending): Promise<PostOutcome> {
  const { createEventPoster } = await import('../events/post-event.ts');
  const poster = createEventPoster(`rtc/${manifest.version}`);
  try {
    return await poster.post(sending, io.signal);
  } finally {
    await poster.close();
  }
}

function triggeredOf(url: URL, event: Event, outcome: PostOutcome): Triggered {
  const sent = { url: url.href, event };
  if (outcome.kind !== 'responded') {
    return { delivered: false, statusCode: 0, error: outcome.reason, ...sent };
  }
  const { statusCode } = outcome;
  const delivered = statusCode >= 200 && statusCode < 300;
  const isRedirect = statusCode >= 300 && statusCode < 400;
  return { delivered, statusCode, error: isRedirect ? 'redirects are not followed' : null, ...sent };
}
