import { RtcError, toProblem } from '../../client/rtc-error.ts';
import { ERROR_CODES, PROBLEMS } from '../../contract/errors.ts';
import { CancelledError, CliError, EXIT, type ExitCode, SEE_HELP, SEE_HELP_IN_ITALIAN } from './cli-error.ts';
import { fileError, isFileError } from './file-error.ts';
import { hintFor } from './hints.ts';

/** An error as the user sees it: a line with the cause, a line with the next step, and a problem for --json. */
export type ErrorDescription = {
  readonly exitCode: ExitCode;
  readonly cause: string;
  readonly details: readonly string[];
  readonly next: string | undefined;
  readonly problem: object;
};

/** @param command such as `rooms create`, whose help is the default next step */
export function describeError(error: unknown, nowMs: number, command?: string): ErrorDescription {
  const description = describeAny(error, nowMs);
  if (command === undefined) return description;
  if (description.next === SEE_HELP) return { ...description, next: `see: rtc ${command} --help` };
  if (description.next === SEE_HELP_IN_ITALIAN)
    return { ...description, next: `vedere: rtc ${command} --help` };
  return description;
}

function describeAny(error: unknown, nowMs: number): ErrorDescription {
  if (error instanceof RtcError) return describeRtcError(error, nowMs);
  if (error instanceof CliError) return describeCliError(error);
  if (error instanceof CancelledError) return describeOwnError(EXIT.cancelled, error.message, undefined);
  // A wait that the signal interrupted.
  if (error instanceof Error && error.name === 'AbortError') {
    return describeOwnError(EXIT.cancelled, 'stopped', undefined);
  }
  if (isFileError(error))
    return describeCliError(fileError(error, { doing: 'used', exitCode: EXIT.failure }));
  const message = error instanceof Error ? error.message : String(error);
  return describeOwnError(EXIT.failure, message === '' ? 'unknown failure' : message, REPORT_IT);
}

/** The hint for an unexpected error. */
const REPORT_IT = 'this is a bug in rtc: please report it, with the output of rtc version';

/**
 * The command line signs as the API asks, so that the service's rules for a signature would only hide the one likely cause.
 * The request id stands in the problem of --json and --debug.
 */
const WRONG_SECRET = 'the API secret does not belong to the API key';

function describeRtcError(error: RtcError, nowMs: number): ErrorDescription {
  const isForeign = error.status !== undefined && !ERROR_CODES.some((known) => known === error.code);
  const exitCode = isForeign
    ? (EXIT_OF_FOREIGN_STATUS[error.status] ?? EXIT.failure)
    : exitCodeOfError(error.code);
  const reference = error.requestId === undefined ? '' : ` (request ${error.requestId})`;
  const fields = error.errors.map((field) => {
    const where = 'pointer' in field ? field.pointer.replace(/^#\/?/, '') || 'the body' : field.parameter;
    return `${where} ${field.detail}`;
  });
  // When every invalid field is named, their summary adds nothing.
  const summary = fields.length === 0 ? trimFullStop(error.reason) : fields.join('; ');
  return {
    exitCode,
    cause: error.code === 'invalid-signature' ? WRONG_SECRET : `${summary}${reference}`,
    details: [],
    next: hintFor(error, nowMs),
    problem: toProblem(error),
  };
}

/** Exit codes of the client's own errors; for any other it is `failure`. */
const EXIT_OF_CLIENT_ERROR: Readonly<Record<string, ExitCode>> = {
  unreachable: EXIT.unavailable,
  'timed-out': EXIT.unavailable,
  aborted: EXIT.cancelled,
};

/** Exit codes of the service's errors; for any other status it is `failure`. */
const EXIT_OF_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  401: EXIT.authentication,
  403: EXIT.authentication,
  404: EXIT.notFound,
  408: EXIT.unavailable,
  409: EXIT.conflict,
  413: EXIT.usage,
  429: EXIT.unavailable,
  503: EXIT.unavailable,
};

/** A response without a problem of ours: from a proxy whose service does not respond, or from another service. */
const EXIT_OF_FOREIGN_STATUS: typeof EXIT_OF_STATUS = {
  ...EXIT_OF_STATUS,
  404: EXIT.failure,
  502: EXIT.unavailable,
  504: EXIT.unavailable,
};

/** Returns the exit code of an error of the service or of the client; of any other code it is `failure`. */
export function exitCodeOfError(code: string): ExitCode {
  const known = ERROR_CODES.find((each) => each === code);
  if (known === undefined) return EXIT_OF_CLIENT_ERROR[code] ?? EXIT.failure;
  return EXIT_OF_STATUS[PROBLEMS[known].status] ?? EXIT.failure;
}

function describeCliError(error: CliError): ErrorDescription {
  const { details } = error;
  const fault = describeOwnError(error.exitCode, error.message, error.next);
  return details.length === 0 ? fault : { ...fault, details, problem: { ...fault.problem, details } };
}

function describeOwnError(exitCode: ExitCode, cause: string, next: string | undefined): ErrorDescription {
  const problem = {
    type: `urn:problem-type:rtc:cli:${NAME_OF_EXIT[exitCode]}`,
    title: TITLE_OF_EXIT[exitCode],
    detail: cause,
  };
  return { exitCode, cause, details: [], next, problem };
}

/**
 * Written without a regular expression, which would start again at each full stop in a text; a server may send a million.
 */
function trimFullStop(text: string): string {
  let end = text.length;
  while (/[.\s]/.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}

const NAME_OF_EXIT: Readonly<Record<ExitCode, string>> = {
  0: 'success',
  1: 'failure',
  2: 'usage',
  3: 'not-found',
  4: 'authentication',
  5: 'conflict',
  6: 'unavailable',
  7: 'negative',
  8: 'pending',
  130: 'cancelled',
};

const TITLE_OF_EXIT: Readonly<Record<ExitCode, string>> = {
  0: 'Success',
  1: 'Failure',
  2: 'Usage',
  3: 'Not found',
  4: 'Authentication',
  5: 'Conflict',
  6: 'Unavailable',
  7: 'Negative result',
  8: 'Still pending',
  130: 'Cancelled',
};
