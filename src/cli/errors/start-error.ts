import { readHint, readReason } from '../../contract/hint.ts';
import { CancelledError, CliError, type ExitCode, isProgrammingError } from './cli-error.ts';
import { fileError, isFileError } from './file-error.ts';
import { hintLine } from './hints.ts';

/**
 * Returns an error of the server's code that a command has started, as the user sees it: invalid settings one by one (the
 * server's ConfigError has them in `faults`).
 */
export function startError(
  error: unknown,
  options: { readonly exitCode: ExitCode; readonly signal?: AbortSignal },
): Error {
  // Ctrl-C during the start: an interrupted step is no error.
  if (options.signal?.aborted === true) return new CancelledError('stopped while starting');
  if (isProgrammingError(error)) return error;
  if (isFileError(error)) return fileError(error, { doing: 'used', exitCode: options.exitCode });
  const faults = readFaults(error);
  if (faults === undefined) {
    const reason = (error instanceof Error ? readReason(error) : String(error)).replace(/\.$/, '');
    const hint = readHint(error);
    return new CliError(options.exitCode, reason, {
      next: hint === undefined ? CHECK : hintLine(hint),
      cause: error,
    });
  }
  const count = faults.length === 1 ? 'a setting is bad' : `${faults.length} settings are bad`;
  return new CliError(options.exitCode, `cannot start: ${count}`, {
    next: 'correct them in the environment or in .env, then: rtc serve --check',
    cause: error,
    details: faults.map(String),
  });
}

/** Packages with native code are installed separately, and commands that need them are unavailable until then. */
export function isMissingPackages(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MISSING_PACKAGES';
}

const CHECK = 'check the settings: rtc serve --check, rtc serve --print-config';

function readFaults(error: unknown): readonly unknown[] | undefined {
  const faults = typeof error === 'object' && error !== null && 'faults' in error ? error.faults : undefined;
  return Array.isArray(faults) ? faults : undefined;
}
