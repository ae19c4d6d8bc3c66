import { describeError } from '../errors/describe-error.ts';
import { printStatus } from '../terminal/terminal.ts';
import { clockTime } from '../terminal/time.ts';
import type { Context } from './context.ts';

/** Reports once that the service is unavailable, and once that it is back. */
export function interruptionNotes({ terminal, io }: Context, isBack: string) {
  const note = (text: string): void => printStatus(terminal, `${clockTime(io.clock())}  ${text}`);
  return {
    onInterruption: (error: unknown) => note(`${describeError(error, io.clock()).cause}; waiting for it`),
    onResumption: () => note(isBack),
  };
}
