import { CliError, type ExitCode } from './failure.ts';

/** A failed start as the user sees it: bad settings one by one (the server's ConfigError has them in `faults`). */
export function startFailure(error: unknown, exitCode: ExitCode): CliError {
  const message = error instanceof Error ? error.message : String(error);
  const { faults } = (error ?? {}) as { readonly faults?: unknown };
  if (Array.isArray(faults)) {
    const count = faults.length === 1 ? 'a setting is bad' : `${faults.length} settings are bad`;
    return new CliError(
      exitCode,
      `the service cannot start: ${count}`,
      'correct them in the environment or in .env, then: rtc serve --check',
      {
        cause: error,
        details: faults.map(String),
      },
    );
  }
  return new CliError(exitCode, message, undefined, { cause: error });
}
