import { CurlPrinted } from '../connection/request-trace.ts';
import { EXIT, type ExitCode } from '../errors/cli-error.ts';
import { done, nothing, type Result } from '../terminal/result.ts';
import type { Context } from './context.ts';
import { reportError } from './report-error.ts';

export type TargetsDone = { readonly exitCode: ExitCode; readonly succeeded: readonly string[] };

/**
 * Does the same to each target, and continues after one that fails. Each error is reported at once, and the exit code is
 * that of the first.
 */
export async function forEachTarget(
  context: Context,
  targets: readonly string[],
  act: (target: string) => Promise<void>,
): Promise<TargetsDone> {
  let exitCode: ExitCode = EXIT.success;
  const succeeded: string[] = [];
  for (const target of targets) {
    try {
      await act(target);
      succeeded.push(target);
    } catch (error) {
      if (error instanceof CurlPrinted) continue;
      // main reports the error of a single target, or a cancellation.
      if (targets.length === 1 || context.io.signal.aborted) throw error;
      const { command, argv } = context;
      const code = await reportError(context.io, { error, argv, command, target });
      if (exitCode === EXIT.success) exitCode = code;
    }
  }
  return { exitCode, succeeded };
}

/** Returns the result that names the targets of which it was done; without text if there are none. */
export function nameSucceeded(
  { exitCode, succeeded }: TargetsDone,
  describe: (names: string) => string,
): Result {
  if (succeeded.length === 0) return nothing({ exitCode });
  return done(describe(succeeded.join(', ')), { exitCode });
}
