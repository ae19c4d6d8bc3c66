import { pause } from '../../client/transport/retry.ts';
import { formatDuration } from '../../contract/amounts.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import type { Context } from './context.ts';
import { flag, option, wholeSeconds } from './parameters.ts';

const POLL_INTERVAL_MS = 1000;
const DEFAULT_TIMEOUT_SECONDS = 60;
const DAY_SECONDS = 86_400;

/** `--wait [--timeout 60s]`. */
export const WAIT_OPTIONS = {
  wait: flag('--wait', 'wait until it is done'),
  timeout: option(
    '--timeout <duration>',
    'with --wait: time limit; default 60s',
    wholeSeconds(1, DAY_SECONDS),
  ),
};

export type WaitFor<T> = {
  readonly what: string;
  readonly timeoutSeconds: number | undefined;
  /** When the wait began, if an earlier one preceded it; default now. */
  readonly sinceMs?: number;
  readonly read: () => Promise<T>;
  readonly isReached: (value: T) => boolean;
};

/**
 * Reads every second until the state is reached, and once more at the time limit.
 * @throws CliError with exit code 8 at the time limit
 */
export async function waitFor<T>(context: Context, options: WaitFor<T>): Promise<T> {
  const timeoutSeconds = options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
  const deadline = (options.sinceMs ?? context.io.clock()) + timeoutSeconds * 1000;
  for (;;) {
    const value = await options.read();
    if (options.isReached(value)) return value;
    const leftMs = deadline - context.io.clock();
    if (leftMs <= 0) {
      throw new CliError(
        EXIT.pending,
        `still waiting for ${options.what} after ${formatDuration(timeoutSeconds)}`,
        'try again later, or wait longer with --timeout',
      );
    }
    await pause(Math.min(POLL_INTERVAL_MS, leftMs), context.io.signal);
  }
}
