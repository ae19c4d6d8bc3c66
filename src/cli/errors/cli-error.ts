import type { ClientErrorCode } from '../../client/rtc-error.ts';
import type { ErrorCode } from '../../contract/errors.ts';

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

/** A new code does not compile until it is mapped. */
export const EXIT_CODE_OF_ERROR: Readonly<Record<ErrorCode | ClientErrorCode, ExitCode>> = {
  'invalid-request': EXIT.usage,
  'missing-credentials': EXIT.authentication,
  'invalid-api-key': EXIT.authentication,
  'timestamp-out-of-window': EXIT.authentication,
  'invalid-signature': EXIT.authentication,
  'insufficient-scope': EXIT.authentication,
  'participant-blocked': EXIT.authentication,
  'room-not-found': EXIT.notFound,
  'participant-not-found': EXIT.notFound,
  'block-not-found': EXIT.notFound,
  'track-not-found': EXIT.notFound,
  'session-not-found': EXIT.notFound,
  'recording-not-found': EXIT.notFound,
  'recording-file-not-found': EXIT.notFound,
  'no-active-recording': EXIT.notFound,
  'broadcast-not-found': EXIT.notFound,
  'no-active-broadcast': EXIT.notFound,
  'ingress-not-found': EXIT.notFound,
  'transcription-not-found': EXIT.notFound,
  'plan-not-found': EXIT.notFound,
  'waiting-not-found': EXIT.notFound,
  'webhook-not-found': EXIT.notFound,
  'delivery-not-found': EXIT.notFound,
  'key-not-found': EXIT.notFound,
  'route-not-found': EXIT.notFound,
  'method-not-allowed': EXIT.failure,
  'request-timeout': EXIT.unavailable,
  conflict: EXIT.conflict,
  'room-closed': EXIT.conflict,
  'room-not-open-yet': EXIT.conflict,
  'waiting-room-full': EXIT.conflict,
  'webhook-limit-reached': EXIT.conflict,
  'key-limit-reached': EXIT.conflict,
  'idempotency-in-progress': EXIT.conflict,
  'idempotency-key-reused': EXIT.failure,
  'recording-not-finished': EXIT.conflict,
  'payload-too-large': EXIT.usage,
  'uri-too-long': EXIT.failure,
  'unsupported-media-type': EXIT.failure,
  'range-not-satisfiable': EXIT.failure,
  'precondition-failed': EXIT.failure,
  'rate-limited': EXIT.unavailable,
  'headers-too-large': EXIT.failure,
  'server-busy': EXIT.unavailable,
  'transfer-coding-unknown': EXIT.failure,
  'internal-error': EXIT.failure,
  'media-server-error': EXIT.failure,
  'recording-storage-error': EXIT.failure,
  'media-server-unavailable': EXIT.unavailable,
  'media-worker-unavailable': EXIT.unavailable,
  'addon-unavailable': EXIT.unavailable,
  'shutting-down': EXIT.unavailable,
  'storage-unavailable': EXIT.unavailable,
  'secret-unavailable': EXIT.unavailable,
  unreachable: EXIT.unavailable,
  'timed-out': EXIT.unavailable,
  aborted: EXIT.cancelled,
  'unexpected-answer': EXIT.failure,
  'answer-too-large': EXIT.failure,
};

/** Exit code of a response without a problem of ours: from a proxy, or from another service. */
export function exitCodeOfStatus(status: number | undefined): ExitCode {
  if (status === undefined) return EXIT.failure;
  return EXIT_OF_STATUS[status] ?? EXIT.failure;
}

const EXIT_OF_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  401: EXIT.authentication,
  403: EXIT.authentication,
  408: EXIT.unavailable,
  409: EXIT.conflict,
  413: EXIT.usage,
  429: EXIT.unavailable,
  // A proxy whose service does not respond.
  502: EXIT.unavailable,
  503: EXIT.unavailable,
  504: EXIT.unavailable,
};

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
