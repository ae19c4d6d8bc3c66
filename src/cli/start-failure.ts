import { CancelledError, CliError, type ExitCode } from './failure.ts';

/** A failed start as the user sees it: bad settings one by one (the server's ConfigError has them in `faults`). */
export function startFailure(
  error: unknown,
  options: { readonly exitCode: ExitCode; readonly signal: AbortSignal },
): Error {
  // Ctrl-C while things were starting: whatever it broke off is no failure.
  if (options.signal.aborted) return new CancelledError('stopped while starting');
  const message = error instanceof Error ? error.message : String(error);
  const { faults } = (error ?? {}) as { readonly faults?: unknown };
  if (!Array.isArray(faults)) return new CliError(options.exitCode, message, undefined, { cause: error });
  const count = faults.length === 1 ? 'a setting is bad' : `${faults.length} settings are bad`;
  return new CliError(
    options.exitCode,
    `the service cannot start: ${count}`,
    'correct them in the environment or in .env, then: rtc serve --check',
    { cause: error, details: faults.map(String) },
  );
}
