import { RtcError } from '../../../client/rtc-error.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { option, wholeSeconds } from '../../framework/parameters.ts';
import { formatDuration } from '../../terminal/time.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;
const DAY_SECONDS = 86_400;

export const TIMEOUT = option('--timeout <duration>', 'time limit; default 60s', {
  parse: wholeSeconds(1, DAY_SECONDS),
});

export type TimeLimit<S> = {
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
