import { CliError, EXIT, type ExitCode, SEE_HELP, SEE_HELP_IN_ITALIAN } from './cli-error.ts';

/** The error and the next step; without a step of its own the command's help is the next one. */
type Wording = readonly [message: string, next?: string];

type More = { readonly exitCode?: ExitCode; readonly cause?: unknown; readonly details?: readonly string[] };

/** An error that is worded in English and Italian: where it is thrown nobody need know which one the reader asked for. */
class BilingualError extends CliError {
  readonly italian: Wording;

  constructor(english: Wording, italian: Wording, { exitCode = EXIT.usage, ...more }: More) {
    const [message, next = SEE_HELP] = english;
    super(exitCode, message, { next, ...more });
    this.italian = italian;
  }
}

/** A wrong command line, unless another exit code is given. In English, unless {@link inLanguage} turns it. */
export function bilingualError(english: Wording, italian: Wording, more: More = {}): CliError {
  return new BilingualError(english, italian, more);
}

/** The error in the language, as far as it is worded in it. */
export function inLanguage(error: unknown, language: unknown): unknown {
  if (language !== 'it' || !(error instanceof BilingualError)) return error;
  const [message, next = SEE_HELP_IN_ITALIAN] = error.italian;
  return new CliError(error.exitCode, message, { next, cause: error.cause, details: error.details });
}

/** The usage error that says of a parameter what an error of its value says. */
export function errorOfParameter(label: string, error: CliError): CliError {
  const message = `${label} ${error.message}`;
  if (!(error instanceof BilingualError)) return new CliError(EXIT.usage, message, error.next);
  const [italian, next = SEE_HELP_IN_ITALIAN] = error.italian;
  return bilingualError([message, error.next], [`${label} ${italian}`, next]);
}
