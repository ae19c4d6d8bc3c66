import { type ErrorCode, errorCodeOfType, type FieldError } from '../contract/errors.ts';
import { type Hint, hintSentence, readHint } from '../contract/hint.ts';
import type { Problem } from '../contract/problem.ts';

/**
 * Errors without a response of the service:
 * `unreachable` no connection (refused, unknown host, certificate), `timed-out` no response in time, `aborted` the
 * caller's signal or close(), `unexpected-answer` a response that is not the service's (a proxy's page, a redirect,
 * broken JSON), `answer-too-large` a body of more than `maxResponseBytes`.
 */
export type ClientErrorCode =
  | 'unreachable'
  | 'timed-out'
  | 'aborted'
  | 'unexpected-answer'
  | 'answer-too-large';

export type { Hint };

export type RtcErrorOptions = {
  readonly code: ErrorCode | ClientErrorCode;
  /** The detail without the hint. */
  readonly detail: string;
  readonly hint?: Hint | undefined;
  readonly method: string;
  readonly path: string;
  readonly status?: number | undefined;
  readonly problem?: Problem | undefined;
  readonly body?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
};

/** A call that failed, with the service's problem (RFC 9457) when the response is one. */
export class RtcError extends Error {
  override readonly name = 'RtcError';
  /** Code of the problem, or the reason why there is no response of the service. */
  readonly code: ErrorCode | ClientErrorCode;
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** The problem's `detail`. For a failed connection it ends with the hint. */
  readonly detail: string;
  /** The detail without the hint. */
  readonly reason: string;
  readonly hint: Hint | undefined;
  /** The problem as received, with members that this version does not know. */
  readonly problem: Problem | undefined;
  /** Body of the response as received, problem or not; undefined without a response. */
  readonly body: string | undefined;
  /** X-Request-Id of the response: the service's log has it. */
  readonly requestId: string | undefined;
  /** Retry-After in seconds. */
  readonly retryAfterSeconds: number | undefined;
  readonly method: string;
  /** Path with query, as it was sent. */
  readonly path: string;

  constructor(options: RtcErrorOptions) {
    const { hint } = options;
    const detail = hint === undefined ? options.detail : `${options.detail}; ${hint.text}`;
    super(`${options.method} ${options.path}: ${detail}`, { cause: options.cause });
    this.code = options.code;
    this.status = options.status;
    this.detail = detail;
    this.hint = hint ?? readHint(options.problem);
    this.reason = withoutHint(options.detail, this.hint);
    this.problem = options.problem;
    this.body = options.body;
    this.requestId = options.requestId;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.method = options.method;
    this.path = options.path;
  }

  /** Every invalid field or parameter of a rejected request. */
  get errors(): readonly FieldError[] {
    const errors: unknown = this.problem?.errors;
    return Array.isArray(errors) ? errors.filter(isFieldError) : [];
  }

  /** The server's clock in Unix seconds, when the request's timestamp was rejected. */
  get serverTime(): number | undefined {
    return this.problem?.serverTime;
  }
}

/** Removes the hint, with which the detail of a problem ends for clients that show only the detail. */
function withoutHint(detail: string, hint: Hint | undefined): string {
  const ending = hint === undefined ? '' : ` ${hintSentence(hint)}`;
  return ending !== '' && detail.endsWith(ending) ? detail.slice(0, -ending.length) : detail;
}

/** Returns the catalogue's code of a problem. For a type that this version does not know, the code is chosen by status. */
export function codeOfProblem(problem: Problem, status: number): ErrorCode | ClientErrorCode {
  return errorCodeOfType(problem.type) ?? codeOfStatus(status);
}

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid-request',
  401: 'missing-credentials',
  403: 'invalid-signature',
  404: 'route-not-found',
  405: 'method-not-allowed',
  408: 'request-timeout',
  409: 'conflict',
  413: 'payload-too-large',
  414: 'uri-too-long',
  415: 'unsupported-media-type',
  429: 'rate-limited',
  431: 'headers-too-large',
  500: 'internal-error',
};

function codeOfStatus(status: number): ErrorCode | ClientErrorCode {
  return CODE_OF_STATUS[status] ?? 'unexpected-answer';
}

/** Returns whether a parsed body is problem details rather than some other JSON. */
export function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null) return false;
  const { type, title, status, detail } = value as Partial<Record<keyof Problem, unknown>>;
  return (
    typeof type === 'string' &&
    typeof title === 'string' &&
    typeof status === 'number' &&
    typeof detail === 'string'
  );
}

function isFieldError(value: unknown): value is FieldError {
  if (typeof value !== 'object' || value === null || !('detail' in value)) return false;
  const place = 'pointer' in value ? value.pointer : 'parameter' in value ? value.parameter : undefined;
  return typeof value.detail === 'string' && typeof place === 'string';
}

/** Returns the problem, or problem details for an error that no server described, so that programs read one shape. */
export function toProblem(error: RtcError): Omit<Problem, 'status'> & { readonly status?: number } {
  if (error.problem !== undefined) return error.problem;
  return {
    type: `urn:problem-type:rtc:${error.code}`,
    title: isClientErrorCode(error.code) ? TITLE_OF_ERROR[error.code] : 'Error',
    ...(error.status === undefined ? {} : { status: error.status }),
    detail: error.detail,
  };
}

const TITLE_OF_ERROR: Readonly<Record<ClientErrorCode, string>> = {
  unreachable: 'Service unreachable',
  'timed-out': 'No response in time',
  aborted: 'Cancelled',
  'unexpected-answer': 'Not a response of the service',
  'answer-too-large': 'Response too large',
};

function isClientErrorCode(code: string): code is ClientErrorCode {
  return Object.hasOwn(TITLE_OF_ERROR, code);
}
