import { type Hint, messageWithHint } from './hint.ts';

/**
 * Every error of the service: its slug (the code), HTTP status, and the text of the catalogue. The `type` of a problem is
 * `urn:problem-type:rtc:<code>` (RFC 9457, section 3.1.1).
 */
export const PROBLEMS = {
  'invalid-request': {
    status: 400,
    meaning: 'A field, parameter or the body itself is malformed; `errors` names each.',
  },
  'missing-credentials': { status: 401, meaning: 'X-Api-Key or one of the signature headers is missing.' },
  'invalid-api-key': {
    status: 401,
    meaning: 'X-Api-Key is not an API key of this service: it is unknown, revoked or expired.',
  },
  'timestamp-out-of-window': {
    status: 403,
    meaning:
      "X-Service-Timestamp is not an integer or more than 300 s off; `serverTime` is the server's clock.",
  },
  'invalid-signature': {
    status: 403,
    meaning: 'The HMAC does not match the method, path and query, timestamp and body as received.',
  },
  'insufficient-scope': {
    status: 403,
    meaning:
      'The API key lacks the scope; each scope in `requiredScopes` is enough; `root` there means the root key.',
  },
  'participant-blocked': {
    status: 403,
    meaning:
      'The identity is blocked in this room; `blockedUntil` is the end of the block, null for a permanent one.',
  },
  'room-not-found': { status: 404, meaning: 'No such room is open on the media server.' },
  'participant-not-found': { status: 404, meaning: 'No participant with this identity is in the room.' },
  'waiting-not-found': { status: 404, meaning: 'Nobody with this identity waits for the room.' },
  'block-not-found': { status: 404, meaning: 'The identity is not blocked in this room.' },
  'track-not-found': { status: 404, meaning: 'The participant publishes no track with this sid.' },
  'recording-not-found': { status: 404, meaning: 'No recording has this id.' },
  'recording-file-not-found': {
    status: 404,
    meaning: 'The recording is known, but it has no file, or its file is no longer where it was stored.',
  },
  'no-active-recording': { status: 404, meaning: 'The room is not being recorded.' },
  'broadcast-not-found': { status: 404, meaning: 'No broadcast has this id.' },
  'no-active-broadcast': { status: 404, meaning: 'The room is not being broadcast.' },
  'session-not-found': {
    status: 404,
    meaning: 'No session has this id; an ended session is kept for SESSION_RETENTION.',
  },
  'ingress-not-found': { status: 404, meaning: 'The room has no ingress with this id.' },
  'transcription-not-found': {
    status: 404,
    meaning: 'No such transcription, or the room was never transcribed.',
  },
  'webhook-not-found': { status: 404, meaning: 'No webhook has this id.' },
  'delivery-not-found': { status: 404, meaning: 'The webhook has no delivery with this id.' },
  'plan-not-found': { status: 404, meaning: 'No plan has this id.' },
  'key-not-found': { status: 404, meaning: 'No API key has this id.' },
  'route-not-found': { status: 404, meaning: 'The service has no such path.' },
  'method-not-allowed': { status: 405, meaning: 'The path exists, but not for this method; see Allow.' },
  'request-timeout': { status: 408, meaning: 'The request did not arrive in time.' },
  conflict: { status: 409, meaning: 'The state of the resource does not allow this now.' },
  'room-closed': {
    status: 409,
    meaning:
      'The room is kept closed; `closedUntil` is when it may be entered again; null: only POST /v1/rooms opens it.',
  },
  'room-not-open-yet': {
    status: 409,
    meaning:
      'The plan of the room lets nobody in yet; `opensAt` is when the room opens, `entryFrom` when people may join.',
  },
  'waiting-room-full': {
    status: 409,
    meaning: 'As many people as may wait for the room already do; `limit` says how many.',
  },
  'webhook-limit-reached': {
    status: 409,
    meaning: 'There are already MAX_WEBHOOKS webhooks; delete one that you do not need.',
  },
  'key-limit-reached': {
    status: 409,
    meaning: 'The API key has as many of something as it may have; `kind` says of what, `limit` how many.',
  },
  'recording-not-finished': {
    status: 409,
    meaning: 'The recording is still running, or its file is still being written.',
  },
  'idempotency-in-progress': {
    status: 409,
    meaning: 'A request with this Idempotency-Key is still running; Retry-After says when to send it again.',
  },
  'precondition-failed': {
    status: 412,
    meaning: 'If-Match or If-Unmodified-Since names another version of the file.',
  },
  'payload-too-large': { status: 413, meaning: 'The body is larger than BODY_LIMIT.' },
  'uri-too-long': { status: 414, meaning: 'The path or one of its parameters is too long.' },
  'unsupported-media-type': { status: 415, meaning: 'Bodies are application/json.' },
  'range-not-satisfiable': {
    status: 416,
    meaning: 'The range begins after the end of the file; Content-Range has the length of the file.',
  },
  'idempotency-key-reused': {
    status: 422,
    meaning: 'This Idempotency-Key was sent with another body or query within the last 24 hours.',
  },
  'rate-limited': { status: 429, meaning: 'Too many requests; Retry-After says when to try again.' },
  'headers-too-large': { status: 431, meaning: 'The request headers are larger than the server reads.' },
  'server-busy': {
    status: 503,
    meaning:
      'Too many request bodies are being received, or too many searches are running; Retry-After says when to try again.',
  },
  'transfer-coding-unknown': {
    status: 501,
    meaning: 'The transfer coding of the body is not supported; only chunked is.',
  },
  'internal-error': { status: 500, meaning: 'An error of the service; its log has the request id.' },
  'media-server-error': {
    status: 502,
    meaning: "The media server refused or failed; usually the service's settings for it are wrong.",
  },
  'recording-storage-error': {
    status: 502,
    meaning:
      "The bucket or folder of the recordings refused or failed; usually the service's settings for it are wrong.",
  },
  'media-server-unavailable': { status: 503, meaning: 'The media server does not respond.' },
  'media-worker-unavailable': {
    status: 503,
    meaning: 'No recorder or ingress worker is connected to the media server.',
  },
  'addon-unavailable': {
    status: 503,
    meaning: 'The transcription worker is not running; the detail names it.',
  },
  'shutting-down': {
    status: 503,
    meaning: 'This instance is shutting down; another one, or this one after its restart, will respond.',
  },
  'storage-unavailable': { status: 503, meaning: 'The database or the object storage does not respond.' },
  'secret-unavailable': {
    status: 503,
    meaning:
      'A stored secret cannot be decrypted, because this instance does not have the ENCRYPTION_KEY that it was stored with; another instance may have it.',
  },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>;

export type ErrorCode = keyof typeof PROBLEMS;

export const ERROR_CODES = Object.keys(PROBLEMS) as readonly ErrorCode[];

const TYPE_PREFIX = 'urn:problem-type:rtc:';

export function problemType(code: ErrorCode): string {
  return TYPE_PREFIX + code;
}

/** Returns the code of a problem's `type`; undefined for a type that this catalogue does not have. */
export function errorCodeOfType(type: string): ErrorCode | undefined {
  const slug = isOwnType(type) ? type.slice(TYPE_PREFIX.length) : '';
  return Object.hasOwn(PROBLEMS, slug) ? (slug as ErrorCode) : undefined;
}

/** Returns whether the problem type belongs to this service, in this version or another one. */
export function isOwnType(type: string): boolean {
  return type.startsWith(TYPE_PREFIX);
}

/** The HTTP reason phrase, which problems of this service (RFC 9457) have as `title`. */
export function reasonPhrase(status: number): string {
  return REASON_PHRASES[status] ?? 'Error';
}

/** One invalid field (`pointer`, a JSON pointer as URI fragment) or query or path parameter (`parameter`). */
export type FieldError =
  | { readonly pointer: string; readonly detail: string }
  | { readonly parameter: string; readonly detail: string };

export type ProblemExtensions = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>;

export type ServiceErrorOptions = {
  readonly cause?: unknown;
  readonly hint?: Hint;
  /** Whether the same call may succeed later without any change. */
  readonly retryable?: boolean;
  readonly errors?: readonly FieldError[];
  /** Further members of the problem, such as `serverTime`. */
  readonly extensions?: ProblemExtensions;
  /** Further headers of the response, such as Allow. */
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * An expected error. `message` is shown to the caller: what is wrong, with which value, and what to do. `hint` has the last
 * part as data.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  /** The message without the hint. */
  readonly reason: string;
  readonly hint: Hint | undefined;
  readonly retryable: boolean;
  readonly errors: readonly FieldError[] | undefined;
  readonly extensions: ProblemExtensions;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    const { cause, hint } = options;
    super(messageWithHint(message, hint), cause === undefined ? undefined : { cause });
    this.code = code;
    this.reason = message;
    this.hint = hint;
    this.retryable = options.retryable ?? false;
    this.errors = options.errors;
    this.extensions = options.extensions ?? {};
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}

/** Returns whether the error is ours, with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is ServiceError {
  return error instanceof ServiceError && codes.includes(error.code);
}

/** For a `catch` after which it does not matter that something is not there. Throws every other error. */
export function ignoreCode(code: ErrorCode): (error: unknown) => undefined {
  return (error) => {
    if (!hasCode(error, code)) throw error;
  };
}

/**
 * The reason phrases of RFC 9110 and its extensions, as Node has them. They are a copy, so that programs that import the
 * catalogue of errors also run without Node.
 */
export const REASON_PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  418: "I'm a Teapot",
  421: 'Misdirected Request',
  422: 'Unprocessable Entity',
  423: 'Locked',
  424: 'Failed Dependency',
  425: 'Too Early',
  426: 'Upgrade Required',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  451: 'Unavailable For Legal Reasons',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
  506: 'Variant Also Negotiates',
  507: 'Insufficient Storage',
  508: 'Loop Detected',
  509: 'Bandwidth Limit Exceeded',
  510: 'Not Extended',
  511: 'Network Authentication Required',
};
