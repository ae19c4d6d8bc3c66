/** Exit codes of `rtc`, documented by `rtc help exit-codes`. */
export const EXIT = {
  success: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  authentication: 4,
  conflict: 5,
  unavailable: 6,
  negative: 7,
  pending: 8,
  cancelled: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The parts of an error beside its message. */
type Advice = {
  /** The next step for the user. */
  readonly next: string;
  readonly cause?: unknown;
  readonly details?: readonly string[];
};

/** The default hint. The command's own name replaces COMMAND when it is printed. */
export const SEE_HELP = 'see: rtc COMMAND --help';
export const SEE_HELP_IN_ITALIAN = 'vedere: rtc COMANDO --help';
/** The hint when no command was recognised. */
export const SEE_ROOT_HELP = 'see: rtc --help';

/** An error of the command itself: one line with the cause, and always one with what to do next. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  readonly next: string;
  /** Further lines between cause and next step, one for each of several errors. */
  readonly details: readonly string[];

  constructor(exitCode: ExitCode, message: string, advice: string | Advice) {
    const { next, cause, details = [] }: Advice = typeof advice === 'string' ? { next: advice } : advice;
    super(message, { cause });
    this.exitCode = exitCode;
    this.next = next;
    this.details = details;
  }
}

/** Creates the error of a wrong command line. The default step is the command's help. */
export function usageError(message: string, next: string = SEE_HELP): CliError {
  return new CliError(EXIT.usage, message, next);
}

/** Ctrl-C at a prompt or during a wait. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
}

/** Returns whether an error is a bug of the program, which no setting and no request corrects. */
export function isProgrammingError(error: unknown): error is Error {
  return [TypeError, ReferenceError, SyntaxError, RangeError].some((type) => error instanceof type);
}

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
