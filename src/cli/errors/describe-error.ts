import { problemOf, RtcError } from '../../client/rtc-error.ts';
import { ERROR_CODES } from '../../contract/errors.ts';
import {
  CancelledError,
  CliError,
  EXIT,
  EXIT_CODE_OF_ERROR,
  type ExitCode,
  exitCodeOfStatus,
  SEE_HELP,
} from './cli-error.ts';
import { fileFault, isFileFault } from './file-error.ts';
import { nextStep, splitClientAdvice } from './hints.ts';

/** An error as the user sees it: a line of cause, a line of next step, and as a problem for --json. */
export type Explanation = {
  readonly exitCode: ExitCode;
  readonly cause: string;
  readonly details: readonly string[];
  readonly next: string | undefined;
  readonly problem: object;
};

/** @param command such as `rooms create`: whose help is the next step where there is none other */
export function explain(error: unknown, nowMs: number, command?: string): Explanation {
  const explanation = explainAny(error, nowMs);
  if (explanation.next !== SEE_HELP || command === undefined) return explanation;
  const next = `see: rtc ${command} --help`;
  const problem = 'next' in explanation.problem ? { ...explanation.problem, next } : explanation.problem;
  return { ...explanation, next, problem };
}

function explainAny(error: unknown, nowMs: number): Explanation {
  if (error instanceof RtcError) return explainRtcError(error, nowMs);
  if (error instanceof CliError) return explainCliError(error);
  if (error instanceof CancelledError) return ownFault(EXIT.cancelled, error.message, undefined);
  // A wait that the signal broke off.
  if (error instanceof Error && error.name === 'AbortError') {
    return ownFault(EXIT.cancelled, 'stopped', undefined);
  }
  if (isFileFault(error)) return explainCliError(fileFault(error, { doing: 'used', exitCode: EXIT.failure }));
  const message = error instanceof Error ? error.message : String(error);
  return ownFault(EXIT.failure, message === '' ? 'unknown failure' : message, REPORT_IT);
}

/** What nobody foresaw. */
const REPORT_IT = 'that is a fault of rtc itself: please report it, with what rtc version prints';

function explainRtcError(error: RtcError, nowMs: number): Explanation {
  const isKnown = (ERROR_CODES as readonly string[]).includes(error.code);
  const exitCode =
    isKnown || error.status === undefined ? EXIT_CODE_OF_ERROR[error.code] : exitCodeOfStatus(error.status);
  const reference = error.requestId === undefined ? '' : ` (request ${error.requestId})`;
  const fields = error.errors.map((field) => {
    const where = 'pointer' in field ? field.pointer.replace(/^#\/?/, '') || 'the body' : field.parameter;
    return `${where} ${field.detail}`;
  });
  // With every bad field named, the summary of them says nothing more.
  const said = fields.length === 0 ? withoutFullStop(splitClientAdvice(error).fault) : fields.join('; ');
  return {
    exitCode,
    cause: `${said}${reference}`,
    details: [],
    next: nextStep(error, nowMs),
    problem: problemOf(error),
  };
}

function explainCliError(error: CliError): Explanation {
  const { details } = error;
  const fault = ownFault(error.exitCode, error.message, error.next);
  return details.length === 0 ? fault : { ...fault, details, problem: { ...fault.problem, details } };
}

function ownFault(exitCode: ExitCode, cause: string, next: string | undefined): Explanation {
  const problem = {
    type: `urn:problem-type:rtc:cli:${NAME_OF_EXIT[exitCode]}`,
    title: TITLE_OF_EXIT[exitCode],
    detail: cause,
    ...(next === undefined ? {} : { next }),
  };
  return { exitCode, cause, details: [], next, problem };
}

/** Not by an expression: that begins anew at each full stop within a text, of which a server may send a million. */
function withoutFullStop(text: string): string {
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
