import { type EventName, eventTypeOf } from '../../../contract/event-names.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import type { Io } from '../../terminal/io.ts';
import { formatDuration, plural } from '../../terminal/time.ts';
import type { Waiting } from './forwarder.ts';

/** Whichever comes first. */
export type FollowEnd = {
  /** The last event, under either of its names. */
  readonly until: EventName | undefined;
  /** How many events. */
  readonly max: number | undefined;
  readonly timeoutSeconds: number | undefined;
};

/**
 * Passes events on until the end.
 * @throws CliError with exit code 8 when the time is up before the event or the number that was asked for
 */
export async function* untilEnd(
  io: Io,
  end: FollowEnd,
  follow: (signal: AbortSignal) => AsyncGenerator<Waiting, void, undefined>,
): AsyncGenerator<Waiting, void, undefined> {
  const { until, max, timeoutSeconds } = end;
  const last = until === undefined ? undefined : eventTypeOf(until);
  const timeUp = new AbortController();
  const timer =
    timeoutSeconds === undefined ? undefined : setTimeout(() => timeUp.abort(), timeoutSeconds * 1000);
  let count = 0;
  try {
    for await (const waiting of follow(AbortSignal.any([io.signal, timeUp.signal]))) {
      count += 1;
      yield waiting;
      if (count === max || (last !== undefined && eventTypeOf(waiting.event.event) === last)) return;
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
