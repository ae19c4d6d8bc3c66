import type { RtcClient } from '../../../client/client.ts';
import type { EventFilter } from '../../../client/nouns/webhooks.ts';
import type { Event, EventList } from '../../../contract/events.ts';
import type { Context } from '../../framework/context.ts';
import { repeatedCursor } from '../../framework/lists/read-pages.ts';
import { defineCommand, ofNoun, option, wholeNumber, wholeSeconds } from '../../framework/parameters.ts';
import { list, nothing } from '../../terminal/result.ts';
import { printHint, printStatus } from '../../terminal/terminal.ts';
import { EVENT_FIELDS, EVENT_FILTER, eventColumns, eventName, KNOWN_EVENTS } from './event-view.ts';
import { tailEvents } from './follow.ts';
import { FORWARD_TO, forward } from './forward.ts';

/** The API's largest page. */
const PAGE_SIZE = 1000;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 100_000;
const DAY_SECONDS = 86_400;

const listEvents = defineCommand({
  verb: 'list',
  summary: 'List events, newest first',
  description: `With --since they are listed from then on, oldest first. Events are ${KNOWN_EVENTS.join(', ')}.`,
  fields: EVENT_FIELDS,
  options: {
    ...EVENT_FILTER,
    limit: option('--limit <n>', `maximum number; default ${DEFAULT_LIMIT}`, wholeNumber(1, MAX_LIMIT)),
  },
  examples: [
    { line: 'rtc events list --limit 20', does: 'The last twenty' },
    {
      line: 'rtc events list --room demo --types participant_joined,participant_left --since 1d',
      does: 'Who came and went',
    },
    { line: 'rtc events list --since 7d --limit 10000 --json', does: 'The API’s response, with nextCursor' },
  ],
  async run(context, { room, events, since, limit, cursor }) {
    const from = since?.(context.io.clock());
    const isNewestFirst = cursor === undefined && from === undefined;
    const response = await readEvents(context, await context.client(), {
      filter: { roomId: room, types: events, since: from },
      order: isNewestFirst ? 'newest' : undefined,
      limit: limit ?? DEFAULT_LIMIT,
      cursor,
    });
    const isFull = response.events.length === (limit ?? DEFAULT_LIMIT);
    const more = `There may be more: --limit N, or --cursor ${response.nextCursor}`;
    // On a terminal the cursor is in a note below the list; the JSON has it.
    const { isTerminal, json } = context.terminal;
    if (isFull && !isTerminal && json === undefined) printStatus(context.terminal, more);
    return list({
      response,
      records: response.events,
      columns: eventColumns(context.terminal),
      identify: (event) => event.id,
      empty: 'No such event.',
      notes: isFull && isTerminal ? [more] : [],
    });
  },
});

const tail = defineCommand({
  verb: 'tail',
  summary: 'Follow events as they happen',
  description:
    'Prints one line per event; without a terminal, one JSON object per line. If the service goes away, the command waits for it and misses nothing. With --forward-to it also posts each event to a receiver, as rtc webhooks listen does. With --until or --max it ends by itself; the exit code is 8 if the time of --timeout is up first.',
  fields: ({ forwardTo }) => (forwardTo === undefined ? EVENT_FIELDS : []),
  options: {
    ...EVENT_FILTER,
    forwardTo: FORWARD_TO,
    until: option('--until <event>', 'end after the first event of this name', {
      parse: eventName,
      completes: 'events',
    }),
    max: option('--max <n>', 'end after this many events', wholeNumber(1, MAX_LIMIT)),
    timeout: option('--timeout <duration>', 'time limit: 90s, 10m, 1h', wholeSeconds(1, DAY_SECONDS)),
  },
  examples: [
    { line: 'rtc events tail', does: 'From now on, until Ctrl-C' },
    { line: 'rtc events tail --room demo --since 10m', does: 'One room, beginning ten minutes ago' },
    { line: 'rtc events tail | jq -r .event', does: 'For a program: one JSON object per line' },
    {
      line: 'rtc events tail --room demo --until room_finished --timeout 2h',
      does: 'Until the room is closed',
    },
    { line: 'rtc events tail --types egress_ended --max 1 --json recording', does: 'The next recording' },
    { line: 'rtc events tail --since 1h --forward-to 4000', does: 'Send a receiver what it has missed' },
  ],
  // A signal before the requested end is a cancellation.
  isStream: ({ until, max }) => until === undefined && max === undefined,
  async run(context, { room, events: asked, since, cursor, forwardTo, until, max, timeout }) {
    const from = since?.(context.io.clock());
    const events = asked === undefined || until === undefined ? asked : [...asked, until];
    const isEndless = until === undefined && max === undefined && timeout === undefined;
    const end = isEndless ? {} : { end: { until, max, timeoutSeconds: timeout } };
    if (forwardTo !== undefined) {
      await forward(context, { url: forwardTo, room, events, since: from, cursor, ...end });
      return nothing();
    }
    const client = await context.client();
    const onReady = (): void => printHint(context.terminal, 'Following. Press Ctrl-C to end.');
    await tailEvents(context, { client, room, events, since: from, cursor, onReady, ...end });
    return nothing();
  },
});

export const commands = ofNoun('events', [listEvents, tail]);

type Reading = {
  readonly filter: EventFilter;
  /** The default is the order of the cursor. */
  readonly order: 'newest' | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
};

/** Reads as many pages as needed, and returns them as one. */
async function readEvents(
  { io }: Context,
  client: RtcClient,
  { filter, order, limit, cursor }: Reading,
): Promise<EventList> {
  const all: Event[] = [];
  let after = cursor;
  for (;;) {
    const size = Math.min(PAGE_SIZE, limit - all.length);
    const page = await client.events.list({
      ...filter,
      ...(after === undefined ? { order } : {}),
      cursor: after,
      limit: size,
      signal: io.signal,
    });
    all.push(...page.events);
    const isRepeated = page.nextCursor === after;
    after = page.nextCursor;
    if (page.events.length < size || all.length >= limit) return { events: all, nextCursor: after };
    if (isRepeated) throw repeatedCursor();
  }
}
