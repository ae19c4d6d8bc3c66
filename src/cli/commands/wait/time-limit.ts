import { RtcError } from '../../../client/rtc-error.ts';
import { retryUntilResponse } from '../../../client/transport/retry.ts';
import { formatDuration } from '../../../contract/amounts.ts';
import { type EventType, LATEST_CURSOR } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { interruptionNotes } from '../../framework/interruption-notes.ts';
import { option, wholeSeconds } from '../../framework/parameters.ts';
import { printHint } from '../../terminal/terminal.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;

const DAY_SECONDS = 86_400;

export const TIMEOUT = option(
  '--timeout <duration>',
  'time limit; default 60s',
  wholeSeconds(1, DAY_SECONDS),
);

type TimeLimit<S> = {
  /** The awaited condition: `room "demo" to be open`. */
  readonly what: string;
  readonly timeoutSeconds: number | undefined;
  /** Returns the state, and whether there is nothing more to wait for. */
  readonly read: (signal: AbortSignal) => Promise<S>;
  readonly isOver: (state: S) => boolean;
};

/**
 * Returns the state at the end of the wait. At the time limit the state is read once more, in case an event was lost.
 * @throws CliError with exit code 8 at the time limit, and 7 when the awaited object was deleted in the meantime
 */
export async function withinTime<S>(
  context: Context,
  { what, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, read, isOver }: TimeLimit<S>,
  wait: (first: S, signal: AbortSignal) => Promise<S>,
): Promise<S> {
  const { signal } = context.io;
  const timeUp = new AbortController();
  const timer = setTimeout(() => timeUp.abort(), timeoutSeconds * 1000);
  let hasBegun = false;
  try {
    const limited = AbortSignal.any([signal, timeUp.signal]);
    const first = await read(limited);
    hasBegun = true;
    return isOver(first) ? first : await wait(first, limited);
  } catch (error) {
    if (hasBegun) throwIfDeleted(error, what);
    if (!timeUp.signal.aborted || signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  const last = await read(signal);
  if (isOver(last)) return last;
  throw new CliError(
    EXIT.pending,
    `still waiting for ${what} after ${formatDuration(timeoutSeconds)}`,
    'try again later, or wait longer with --timeout',
  );
}

function throwIfDeleted(error: unknown, what: string): void {
  if (!(error instanceof RtcError) || error.status !== 404) return;
  const message = `${error.reason} It was there when the waiting for ${what} began`;
  throw new CliError(EXIT.negative, message, { next: 'see: rtc events list', cause: error });
}

type FollowedState<S> = TimeLimit<S> & {
  readonly room?: string;
  readonly types: readonly EventType[];
  /** Returns the state after an event; `read` requests it from the service, and waits for an unavailable one. */
  readonly apply: (state: S, event: Event, read: () => Promise<S>) => S | Promise<S>;
};

/**
 * Waits by the stored events. The cursor is read before the state, so that no event in between is missed; an event that the
 * state has already is applied again, which changes nothing.
 */
export async function followState<S>(context: Context, followed: FollowedState<S>): Promise<S> {
  const { what, room, types, apply, isOver } = followed;
  const client = await context.client();
  let cursor: string = LATEST_CURSOR;
  const readAfterCursor = async (signal: AbortSignal): Promise<S> => {
    cursor = (await client.events.list({ cursor: LATEST_CURSOR, limit: 1, signal })).nextCursor;
    return await followed.read(signal);
  };
  return await withinTime(context, { ...followed, read: readAfterCursor }, async (first, signal) => {
    printHint(context.terminal, `Waiting for ${what}. Press Ctrl-C to end.`);
    const handlers = interruptionHandlers(context, signal);
    const read = (): Promise<S> => retryUntilResponse({}, handlers, () => followed.read(signal));
    let state = first;
    for await (const event of client.events.follow({
      ...handlers,
      roomId: room,
      types,
      cursor,
      isResumed: true,
    })) {
      state = await apply(state, event, read);
      if (isOver(state)) break;
    }
    return state;
  });
}

export function interruptionHandlers(context: Context, signal: AbortSignal) {
  return { signal, ...interruptionNotes(context, 'The service is back.') };
}
