import { CancelledError, CliError, type ExitCode, isProgrammingError } from './cli-error.ts';
import { fileError, isFileError } from './file-error.ts';

/** A failed start as the user sees it: bad settings one by one (the server's ConfigError has them in `faults`). */
export function startError(
  error: unknown,
  options: { readonly exitCode: ExitCode; readonly signal: AbortSignal },
): Error {
  // Ctrl-C while things were starting: whatever it broke off is no failure.
  if (options.signal.aborted) return new CancelledError('stopped while starting');
  if (isProgrammingError(error)) return error;
  if (isFileError(error)) return fileError(error, { doing: 'used', exitCode: options.exitCode });
  const message = error instanceof Error ? error.message : String(error);
  const { faults } = (error ?? {}) as { readonly faults?: unknown };
  if (!Array.isArray(faults)) {
    const { fault, next } = splitAdvice(message);
    return new CliError(options.exitCode, fault, next ?? CHECK, { cause: error });
  }
  const count = faults.length === 1 ? 'a setting is bad' : `${faults.length} settings are bad`;
  return new CliError(
    options.exitCode,
    `cannot start: ${count}`,
    'correct them in the environment or in .env, then: rtc serve --check',
    { cause: error, details: faults.map(String) },
  );
}

const CHECK = 'check the settings: rtc serve --check, rtc serve --print-config';

/**
 * What the service says when it cannot start is a sentence of what is wrong, and then what to do about it: `Cannot
 * listen on 127.0.0.1:80: that is not allowed. Choose a PORT above 1023.`
 */
function splitAdvice(message: string): { readonly fault: string; readonly next: string | undefined } {
  const [, fault, advice] = /^(.*?\S)\.\s+(\p{Lu}.*)$/su.exec(message) ?? [];
  if (fault === undefined || advice === undefined) {
    return { fault: message.replace(/\.$/, ''), next: undefined };
  }
  // Lower-case as the other steps; a name such as PORT stays.
  const next = /^\p{Lu}(?!\p{Lu})/u.test(advice) ? advice.charAt(0).toLowerCase() + advice.slice(1) : advice;
  return { fault, next: next.replace(/\.$/, '') };
}
