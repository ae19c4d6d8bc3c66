import { CliError, EXIT, type ExitCode, SEE_HELP, SEE_HELP_IN_ITALIAN } from './cli-error.ts';

/** The error and the next step. The default step is the command's help. */
type Wording = readonly [message: string, next?: string];

type More = { readonly exitCode?: ExitCode; readonly cause?: unknown; readonly details?: readonly string[] };

/** An error with texts in English and Italian, so that the code that throws it need not know the language of the user. */
class BilingualError extends CliError {
  readonly italian: Wording;

  constructor(english: Wording, italian: Wording, { exitCode = EXIT.usage, ...more }: More) {
    const [message, next = SEE_HELP] = english;
    super(exitCode, message, { next, ...more });
    this.italian = italian;
  }
}

/** Creates a usage error, unless another exit code is given. It is in English until {@link inLanguage} changes that. */
export function bilingualError(english: Wording, italian: Wording, more: More = {}): CliError {
  return new BilingualError(english, italian, more);
}

/** Returns the error in the language, if it has texts in it. */
export function inLanguage(error: unknown, language: unknown): unknown {
  if (language !== 'it' || !(error instanceof BilingualError)) return error;
  const [message, next = SEE_HELP_IN_ITALIAN] = error.italian;
  return new CliError(error.exitCode, message, { next, cause: error.cause, details: error.details });
}

/** Returns the usage error for a parameter, from the error of its value. */
export function errorOfParameter(label: string, error: CliError): CliError {
  const message = `${label} ${error.message}`;
  if (!(error instanceof BilingualError)) return new CliError(EXIT.usage, message, error.next);
  const [italian, next = SEE_HELP_IN_ITALIAN] = error.italian;
  return bilingualError([message, error.next], [`${label} ${italian}`, next]);
}
