import { CliError, EXIT, type ExitCode } from './cli-error.ts';

/** What is wrong, and what to do next. */
type Wording = readonly [message: string, next: string];

type More = { readonly exitCode?: ExitCode; readonly cause?: unknown; readonly details?: readonly string[] };

/** An error that is worded in English and Italian: where it is thrown nobody need know which one the reader asked for. */
class BilingualError extends CliError {
  readonly italian: Wording;

  constructor(english: Wording, italian: Wording, { exitCode = EXIT.usage, ...more }: More) {
    super(exitCode, ...english, more);
    this.italian = italian;
  }
}

/** A wrong command line, unless another exit code is given. In English, unless `withLanguage` turns it. */
export function bilingualError(english: Wording, italian: Wording, more: More = {}): CliError {
  return new BilingualError(english, italian, more);
}

/** The error in the language, as far as it is worded in it. */
export function inLanguage(error: unknown, language: unknown): unknown {
  if (language !== 'it' || !(error instanceof BilingualError)) return error;
  return new CliError(error.exitCode, ...error.italian, { cause: error.cause, details: error.details });
}
