import type { RtcError } from '../../../client/rtc-error.ts';
import { retryUntilResponse } from '../../../client/transport/retry-until-response.ts';
import { type EventType, LATEST_CURSOR } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import { describeError } from '../../errors/describe-error.ts';
import type { Context } from '../../framework/context.ts';
import { printHint, printStatus } from '../../terminal/terminal.ts';
import { clockTime } from '../../terminal/time.ts';
import { type TimeLimit, withinTime } from './time-limit.ts';

export type FollowedState<S> = TimeLimit<S> & {
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
    for await (const event of client.events.follow({ ...handlers, room, types, cursor, isResumed: true })) {
      state = await apply(state, event, read);
      if (isOver(state)) break;
    }
    return state;
  });
}

/** Waits for an unavailable service, and reports it once. */
export function interruptionHandlers(context: Context, signal: AbortSignal) {
  const { terminal, io } = context;
  return {
    signal,
    onInterruption: (error: RtcError): void =>
      printStatus(
        terminal,
        `${clockTime(io.clock())}  ${describeError(error, io.clock()).cause}; waiting for it`,
      ),
    onResumption: (): void => printStatus(terminal, `${clockTime(io.clock())}  The service is back.`),
  };
}
