import manifest from '../../../../package.json' with { type: 'json' };
import type { RtcClient } from '../../../client/client.ts';
import type { FollowEventsOptions } from '../../../client/nouns/webhooks.ts';
import { formatDuration, plural } from '../../../contract/amounts.ts';
import { deliveredName, type EventName, findEventType } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { interruptionNotes } from '../../framework/interruption-notes.ts';
import type { Io } from '../../terminal/io.ts';
import { jsonLine, select } from '../../terminal/output.ts';
import { escapeForTerminal, printStatus, type Terminal } from '../../terminal/terminal.ts';
import { clockTime } from '../../terminal/time.ts';
import { wrapForTerminal } from '../../terminal/wrap-text.ts';
import { eventLine, NAME_WIDTH, withId } from './event-view.ts';
import type { Forwarded, Waiting } from './forwarder.ts';

type Following = {
  readonly client: RtcClient;
  readonly room: string | undefined;
  readonly events: readonly EventName[] | undefined;
  /** ISO 8601. */
  readonly since: string | undefined;
  /** Position to start from; by default only future events. */
  readonly cursor: string | undefined;
  /** Called after the first response. From then on no event is missed. */
  readonly onReady: () => void;
  /** Condition of the end; without one, the signal ends it. */
  readonly end?: FollowEnd;
};

/** Shows each event as it is stored, until the signal: a line on a terminal, a JSON object per line elsewhere. */
export async function tailEvents(context: Context, following: Following): Promise<void> {
  const { terminal } = context;
  for await (const { event } of follow(context, following)) {
    if (isForPeople(terminal)) print(terminal, eventLine(terminal, event, ''));
    else
      printLine(
        terminal,
        terminal.json === undefined || terminal.json === 'everything' ? event : select(event, terminal.json),
      );
  }
}

type Forwarding = Following & {
  readonly url: URL;
  readonly secret: string;
  readonly skipVerify?: boolean | undefined;
};

/**
 * Like tailEvents, and posts each event to a receiver. Prints two lines per event, one for the event and one for the
 * response; as JSON `{"type":"ready"|"event"|"answer"|"down"|"up"|"end", …}`.
 */
export async function forwardEvents(context: Context, { onReady, ...forwarding }: Forwarding): Promise<void> {
  const { terminal, io } = context;
  const { url, secret, skipVerify } = forwarding;
  const { createEventPoster, Forwarder } = await import('./forwarder.ts');
  const forwarder = new Forwarder({
    url,
    secret,
    poster: createEventPoster({ userAgent: `rtc/${manifest.version}`, skipVerify }),
    clock: io.clock,
    signal: io.signal,
    onForwarded: (forwarded) => showResponse(terminal, forwarded),
    onDown: (reason) => showDown(terminal, url, reason),
    onUp: (waiting) => showUp(terminal, url, waiting),
  });
  const ready = (): void => {
    if (!isForPeople(terminal)) printLine(terminal, { type: 'ready', forwardTo: url.href });
    onReady();
  };
  try {
    for await (const waiting of follow(context, { ...forwarding, onReady: ready })) {
      showEvent(terminal, waiting.event);
      await forwarder.add(waiting);
    }
    await forwarder.drain();
  } finally {
    showEnd(terminal, forwarding, await forwarder.close());
  }
}

/** Yields the events until the requested end. */
async function* follow(context: Context, following: Following): AsyncGenerator<Waiting, void, undefined> {
  const { end } = following;
  if (end === undefined) return yield* followOn(context, following, context.io.signal);
  yield* untilEnd(context.io, end, (signal) => followOn(context, following, signal));
}

/** Yields events, with news of the connection on stderr. An event has the requested name, as a webhook gets it. */
async function* followOn(
  context: Context,
  following: Following,
  signal: AbortSignal,
): AsyncGenerator<Waiting, void, undefined> {
  const { client, room, events, since, onReady } = following;
  let cursor = following.cursor;
  let isReady = false;
  const options: FollowEventsOptions = {
    roomId: room,
    since,
    cursor,
    types: events,
    signal,
    onCursor: (reached) => {
      cursor = reached;
      if (!isReady) onReady();
      isReady = true;
    },
    ...interruptionNotes(context, 'The service is back; no event was missed.'),
  };
  for await (const event of client.events.follow(options)) {
    const type = findEventType(event.event);
    const name = type === undefined || events === undefined ? undefined : deliveredName(type, events);
    yield { event: name === undefined ? event : Object.assign({}, event, { event: name }), cursor };
  }
}

function isForPeople(terminal: Terminal): boolean {
  return terminal.isTerminal && terminal.json === undefined;
}

function print(terminal: Terminal, line: string): void {
  terminal.io.stdout.write(`${line}\n`);
}

function printLine(terminal: Terminal, value: unknown): void {
  print(terminal, jsonLine(terminal, value));
}

function showEvent(terminal: Terminal, event: Event): void {
  if (isForPeople(terminal)) print(terminal, eventLine(terminal, event, '--> '));
  else printLine(terminal, { type: 'event', event });
}

/** Characters of a response that are shown beside its status. A page of HTML does not fit. */
const SHOWN_RESPONSE = 60;

function showResponse(terminal: Terminal, forwarded: Forwarded): void {
  const { event, outcome, attempt, durationMs, isTriedAgain } = forwarded;
  const hasResponse = outcome.kind === 'responded';
  const statusCode = hasResponse ? outcome.statusCode : null;
  const error = hasResponse ? describeRejection(outcome) : outcome.reason;
  if (!isForPeople(terminal)) {
    const about = { eventId: event.id, event: event.event, attempt, statusCode, durationMs, error };
    printLine(terminal, { type: 'answer', ...about, isTriedAgain });
    return;
  }
  const { palette } = terminal;
  const paint = error === null ? palette.good : palette.bad;
  const excerpt = hasResponse && error !== null ? firstLine(outcome.text) : '';
  const why = [error, excerpt, isTriedAgain ? 'trying again' : ''].filter(
    (text) => text !== '' && text !== null,
  );
  const parts = [
    palette.faint(clockTime(terminal.io.clock())),
    `<-- ${paint(String(statusCode ?? 'ERR').padEnd(3))}`,
    escapeForTerminal(event.event.padEnd(NAME_WIDTH)),
    palette.faint(`${durationMs} ms`),
    ...(why.length === 0 ? [] : [paint(escapeForTerminal(why.join(': ')))]),
  ];
  print(terminal, withId(terminal, parts, event.id));
}

function firstLine(text: string): string {
  const line = text.trim().split(/[\r\n]/, 1)[0] ?? '';
  return line.length <= SHOWN_RESPONSE ? line : `${line.slice(0, SHOWN_RESPONSE)}…`;
}

type Responded = Extract<Forwarded['outcome'], { readonly kind: 'responded' }>;

/** Returns why a response does not count as a delivery; null when it does. */
function describeRejection({ statusCode, redirect }: Responded): string | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return redirect ?? 'not accepted';
}

function showDown(terminal: Terminal, url: URL, reason: string): void {
  if (!isForPeople(terminal)) {
    printLine(terminal, { type: 'down', forwardTo: url.href, error: reason });
    return;
  }
  printNews(terminal, 'warning', `${url.origin}: ${reason}; events wait here until it is back`);
}

function showUp(terminal: Terminal, url: URL, waiting: number): void {
  if (!isForPeople(terminal)) {
    printLine(terminal, { type: 'up', forwardTo: url.href, waiting });
    return;
  }
  printNews(terminal, 'good', `${url.origin} is back; it gets the ${plural(waiting, 'event')} that waited`);
}

/** `09:30:04  !   ` */
const NEWS_LABEL = 14;

function printNews({ palette, io }: Terminal, paint: 'warning' | 'good', text: string): void {
  const shown = wrapForTerminal(io.stdout, escapeForTerminal(text), NEWS_LABEL);
  io.stdout.write(`${palette.faint(clockTime(io.clock()))}  ${palette[paint](`!   ${shown}`)}\n`);
}

function showEnd(
  terminal: Terminal,
  { url, since, room, events }: Pick<Forwarding, 'url' | 'since' | 'room' | 'events'>,
  { waiting, first }: { readonly waiting: number; readonly first: Waiting | undefined },
): void {
  const from = first === undefined ? {} : first.cursor === undefined ? { since } : { cursor: first.cursor };
  if (!isForPeople(terminal)) printLine(terminal, { type: 'end', waiting, ...from });
  if (first === undefined) return;
  const options = { room, types: events?.join(','), ...from, 'forward-to': url.href };
  const words = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellQuote(value)}`],
  );
  printStatus(
    terminal,
    `${plural(waiting, 'event')} did not reach ${url.origin}. To send what waited later:`,
  );
  printStatus(terminal, `  rtc events tail ${words.join(' ')}`);
}

/** Conditions that end following; the first one that is met counts. */
type FollowEnd = {
  /** Name of the last event, of either table. */
  readonly until: EventName | undefined;
  /** Maximum number of events. */
  readonly max: number | undefined;
  readonly timeoutSeconds: number | undefined;
};

/**
 * Passes events on until the end.
 * @throws CliError with exit code 8 at the time limit before the requested event or number
 */
async function* untilEnd(
  io: Io,
  end: FollowEnd,
  follow: (signal: AbortSignal) => AsyncGenerator<Waiting, void, undefined>,
): AsyncGenerator<Waiting, void, undefined> {
  const { until, max, timeoutSeconds } = end;
  const last = until === undefined ? undefined : findEventType(until);
  const timeUp = new AbortController();
  const timer =
    timeoutSeconds === undefined ? undefined : setTimeout(() => timeUp.abort(), timeoutSeconds * 1000);
  let count = 0;
  try {
    for await (const waiting of follow(AbortSignal.any([io.signal, timeUp.signal]))) {
      count += 1;
      yield waiting;
      if (count === max || (last !== undefined && findEventType(waiting.event.event) === last)) return;
    }
  } catch (error) {
    if (!timeUp.signal.aborted || io.signal.aborted) throw error;
    if (until !== undefined || max !== undefined) throw notReached(end, count);
  } finally {
    clearTimeout(timer);
  }
}

function notReached({ until, max = 0, timeoutSeconds = 0 }: FollowEnd, count: number): CliError {
  const awaited = until ?? plural(max, 'event');
  const so = until === undefined ? ` (${count} so far)` : '';
  return new CliError(
    EXIT.pending,
    `still waiting for ${awaited}${so} after ${formatDuration(timeoutSeconds)}`,
    'wait longer with --timeout, or see what happened: rtc events list',
  );
}
