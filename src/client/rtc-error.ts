import { type ErrorCode, errorCodeOfType, type FieldError } from '../contract/errors.ts';
import type { Problem } from '../contract/problem.ts';

/**
 * What can go wrong without an answer of the service:
 * `unreachable` no connection (refused, unknown host, certificate), `timed-out` no answer in time, `aborted` the
 * caller's signal, `unexpected-answer` an answer that is not the service's (a proxy's page, a redirect, broken
 * JSON), `answer-too-large` more than `maxResponseBytes`.
 */
export type ClientFault = 'unreachable' | 'timed-out' | 'aborted' | 'unexpected-answer' | 'answer-too-large';

export type RtcErrorOptions = {
  readonly code: ErrorCode | ClientFault;
  readonly detail: string;
  readonly method: string;
  readonly path: string;
  readonly status?: number | undefined;
  readonly problem?: Problem | undefined;
  readonly body?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
};

/** A call that failed: with the service's problem (RFC 9457) when it answered one. */
export class RtcError extends Error {
  override readonly name = 'RtcError';
  /** Slug of the problem catalogue, or what kept the answer away. */
  readonly code: ErrorCode | ClientFault;
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** What is wrong, in the service's own words where it answered. */
  readonly detail: string;
  /** The problem as answered, with members that this version does not know. */
  readonly problem: Problem | undefined;
  /** Body of the answer as received, problem or not; undefined without an answer. */
  readonly body: string | undefined;
  /** X-Request-Id of the answer: the service's log has it. */
  readonly requestId: string | undefined;
  /** Retry-After in seconds. */
  readonly retryAfterSeconds: number | undefined;
  readonly method: string;
  /** Path with query, as sent. */
  readonly path: string;

  constructor(options: RtcErrorOptions) {
    super(`${options.method} ${options.path}: ${options.detail}`, { cause: options.cause });
    this.code = options.code;
    this.status = options.status;
    this.detail = options.detail;
    this.problem = options.problem;
    this.body = options.body;
    this.requestId = options.requestId;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.method = options.method;
    this.path = options.path;
  }

  /** Every bad field or parameter of a refused request. */
  get errors(): readonly FieldError[] {
    return (this.problem?.errors ?? []) as readonly FieldError[];
  }

  /** The server's clock in Unix seconds, when the request's timestamp was refused. */
  get serverTime(): number | undefined {
    return this.problem?.serverTime;
  }
}

/** The catalogue's code of a problem; for a type that this version does not know, the nearest by status. */
export function codeOfProblem(problem: Problem, status: number): ErrorCode | ClientFault {
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

function codeOfStatus(status: number): ErrorCode | ClientFault {
  return CODE_OF_STATUS[status] ?? 'unexpected-answer';
}

/** Whether a parsed body is problem details rather than some other JSON. */
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

/** Problem details for a fault that no server described, so that programs read one shape. */
export function problemOf(error: RtcError): Omit<Problem, 'status'> & { readonly status?: number } {
  if (error.problem !== undefined) return error.problem;
  return {
    type: `urn:problem-type:rtc:${error.code}`,
    title: TITLE_OF_FAULT[error.code as ClientFault] ?? 'Error',
    ...(error.status === undefined ? {} : { status: error.status }),
    detail: error.detail,
  };
}

const TITLE_OF_FAULT: Readonly<Record<ClientFault, string>> = {
  unreachable: 'Service unreachable',
  'timed-out': 'No answer in time',
  aborted: 'Cancelled',
  'unexpected-answer': 'Not an answer of the service',
  'answer-too-large': 'Answer too large',
};
