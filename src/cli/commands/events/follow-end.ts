import { type EventName, eventTypeOf } from '../../../contract/event-names.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import type { Io } from '../../terminal/io.ts';
import { formatDuration, plural } from '../../terminal/time.ts';
import type { Waiting } from './forwarder.ts';

/** Conditions that end following; the first one that is met counts. */
export type FollowEnd = {
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
