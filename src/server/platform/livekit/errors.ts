import { connect } from 'node:net';
import { ServerError } from 'livekit-server-sdk';
import { type ErrorCode, ServiceError } from '../../../contract/errors.ts';
import { maskStreamUrls } from './stream-urls.ts';

/** The call that failed. */
export type FailedCall = {
  readonly method: string;
  readonly timeoutMs: number;
  /** Error code for a not_found of this call. */
  readonly notFound?: ErrorCode;
  /** The process behind the media server that this call needs. */
  readonly worker?: 'recorder' | 'ingress service';
};

/*
 * Translates LiveKit's errors for our callers. Messages never contain addresses, tokens or stacks: LiveKit's own message
 * of a 5xx may contain any of them, its 401 quotes the token, and its 400 the URL of a stream with its key. The cause keeps
 * that message, without tokens and keys.
 */
export function toServiceError(error: unknown, call: FailedCall): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof ServerError) return fromServerError(withoutSecrets(error), call);
  if (error instanceof NoConnectionError || isNetworkFailure(error)) return fromConnectFailure(error);
  if (error instanceof Error && error.name === 'TimeoutError') return fromTimeout(error, call);
  return new ServiceError(
    'media-server-error',
    "The media server's response cannot be understood; LIVEKIT_URL may not lead to a LiveKit server.",
    { cause: error, retryable: false },
  );
}

function fromServerError(error: ServerError, call: FailedCall): ServiceError {
  if (error.status === 401 || error.status === 403) return fromCredentialsError(error);
  if (error.code === undefined) return fromForeignResponse(error);
  const missing = fromMissingRedis(error, call);
  if (missing !== undefined) return missing;
  if (isRedisGone(error)) return fromLostRedis(error);
  const detail = plainDetail(error.message);
  switch (isGoneObject(error) ? 'not_found' : error.code) {
    case 'not_found':
      return call.notFound === undefined
        ? toFailure(error, call)
        : new ServiceError(call.notFound, `The media server says: ${detail}.`, { cause: error });
    case 'invalid_argument':
    case 'malformed':
    case 'out_of_range':
      return new ServiceError('invalid-request', `The media server refuses the request: ${detail}.`, {
        cause: error,
      });
    case 'failed_precondition':
    case 'already_exists':
    case 'aborted':
      return new ServiceError('conflict', `The media server says: ${detail}.`, { cause: error });
    case 'unavailable':
    case 'deadline_exceeded':
    case 'canceled':
    case 'resource_exhausted':
      return fromUnavailable(error, call);
    case 'unimplemented':
    case 'bad_route':
      return new ServiceError(
        'media-server-error',
        `The media server does not know ${call.method}; it may be too old.`,
        { cause: error },
      );
    default:
      return toFailure(error, call);
  }
}

/** LiveKit's error, with the code unknown, for a room that went away during the call. */
function isGoneObject({ message }: ServerError): boolean {
  return plainDetail(message) === 'could not find object';
}

/** LiveKit rejected our credentials. A 401 or 403 would mean to our caller that the caller's own are wrong. */
function fromCredentialsError(error: ServerError): ServiceError {
  if (/expired|not valid yet|before/i.test(error.message)) {
    return new ServiceError(
      'media-server-error',
      "The media server refuses this service's token as expired or not valid yet.",
      {
        cause: error,
        retryable: false,
        hint: { text: 'compare the clocks of both machines, and correct the wrong one (NTP)' },
      },
    );
  }
  return new ServiceError(
    'media-server-error',
    "The media server refuses this service's LIVEKIT_API_KEY and LIVEKIT_API_SECRET: both must be among its keys.",
    { cause: error, retryable: false },
  );
}

/** A response without a Twirp code comes from a proxy, or from something that is not LiveKit. */
function fromForeignResponse(error: ServerError): ServiceError {
  const busy = error.status === 429 || (error.status >= 502 && error.status <= 504);
  return busy
    ? new ServiceError(
        'media-server-unavailable',
        `The media server is not available: a proxy in front of it responded with ${error.status}.`,
        { cause: error, retryable: true },
      )
    : new ServiceError(
        'media-server-error',
        `The media server responded with ${error.status}, which LiveKit does not; LIVEKIT_URL may lead to another server.`,
        { cause: error, retryable: false },
      );
}

/** Without Redis LiveKit returns an error with that reason, except in DeleteIngress, which panics. */
function fromMissingRedis(error: ServerError, call: FailedCall): ServiceError | undefined {
  const isMissing =
    error.message.includes('not connected (redis required)') ||
    (call.worker === 'ingress service' && error.message === 'Internal service panic');
  if (!isMissing) return undefined;
  return new ServiceError(
    'media-worker-unavailable',
    `The media server runs without Redis, so it has no ${call.worker ?? 'worker'}: set its redis address and connect one.`,
    { cause: error, retryable: false },
  );
}

/** Messages of LiveKit's Redis client, which LiveKit passes on as internal or unknown. Go's network and Redis wrote them. */
const REDIS_GONE =
  /\b(dial|read|write) tcp\b|\bconnection pool (timeout|exhausted)|\bredis: client is closed|\b(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN) |(^|: )EOF$/;

function isRedisGone({ code, message }: ServerError): boolean {
  return (code === 'internal' || code === 'unknown') && REDIS_GONE.test(message);
}

function fromLostRedis(error: ServerError): ServiceError {
  return new ServiceError(
    'media-server-unavailable',
    'The media server cannot reach its Redis: check the redis address in its configuration, and whether that Redis is running.',
    { cause: error, retryable: true },
  );
}

function fromUnavailable(error: ServerError, call: FailedCall): ServiceError {
  return call.worker === undefined
    ? new ServiceError(
        'media-server-unavailable',
        `The media server could not carry out ${call.method} in time (${error.code}); its log says why.`,
        { cause: error, retryable: true },
      )
    : new ServiceError(
        'media-worker-unavailable',
        `No ${call.worker} responded to the media server: none is connected, or all are busy.`,
        { cause: error, retryable: true },
      );
}

function toFailure(error: ServerError, call: FailedCall): ServiceError {
  return new ServiceError(
    'media-server-error',
    `The media server failed in ${call.method} (${error.code}); its log says why.`,
    { cause: error, retryable: error.status >= 500 },
  );
}

function fromTimeout(error: Error, call: FailedCall): ServiceError {
  const code = call.worker === 'recorder' ? 'media-worker-unavailable' : 'media-server-unavailable';
  const who = call.worker === 'recorder' ? 'No recorder responded' : 'The media server did not respond';
  return new ServiceError(code, `${who} within ${call.timeoutMs / 1000} s.`, {
    cause: error,
    retryable: true,
  });
}

/** fetch wraps the error that has the code. */
function isNetworkFailure(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (error instanceof TypeError && error.cause instanceof Error) || systemCode(error) !== undefined;
}

function fromConnectFailure(error: Error): ServiceError {
  const code = systemCode(error);
  const why = CONNECT_FAILURES[code ?? ''] ?? `cannot be reached${code === undefined ? '' : ` (${code})`}`;
  return new ServiceError('media-server-unavailable', `The media server ${why}; check LIVEKIT_URL.`, {
    cause: error,
    retryable: true,
  });
}

const CONNECT_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'is not running: the connection was refused',
  ENOTFOUND: 'has an unknown host name',
  EAI_AGAIN: 'has a host name that cannot be looked up now',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be connected to in time',
  ETIMEDOUT: 'cannot be connected to in time',
  ECONNRESET: 'closed the connection before it responded',
  UND_ERR_SOCKET: 'closed the connection before it responded',
  UND_ERR_DESTROYED: 'is not called any more: the service is closing',
  HPE_INVALID_CONSTANT: 'does not speak HTTP there',
};

function systemCode(error: Error): string | undefined {
  const source = error.cause instanceof Error ? error.cause : error;
  return 'code' in source && typeof source.code === 'string' ? source.code : undefined;
}

/** Returns whether a process of the media server responded that the room or participant is not there, such as somebody who is leaving. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'not_found';
}

/**
 * Returns whether the media server responded that none of its processes did, because the process of the room or participant is
 * gone.
 */
export function isNoResponse(error: unknown): boolean {
  return (
    error instanceof ServerError &&
    error.code === 'unavailable' &&
    error.message.includes('no response from servers')
  );
}

/** The same for a translated error. */
export function gotNoResponse(error: unknown): boolean {
  return error instanceof ServiceError && isNoResponse(error.cause);
}

/** Removes the prefix that LiveKit puts before the text of its internal errors. */
function plainDetail(message: string): string {
  return message.replace(/^twirp error \w+: /, '').replace(/\.$/, '');
}

const TOKEN = /eyJ[\w-]*\.[\w-]*\.[\w-]*/g;

/** Removes tokens, because LiveKit's "invalid token" contains the whole token. */
export function hideTokens(text: string): string {
  return text.replace(TOKEN, '<token>');
}

function withoutSecrets(error: ServerError): ServerError {
  const message = maskStreamUrls(hideTokens(error.message));
  if (message === error.message) return error;
  return new ServerError(error.name, message, error.status, error.code, error.metadata);
}

/**
 * Returns whether the media server responded that it does not accept the service's key, or a token with the time of the
 * service's clock.
 */
export function isKeyRefused(error: unknown): boolean {
  if (!(error instanceof ServiceError && error.cause instanceof ServerError)) return false;
  return error.cause.status === 401 || error.cause.status === 403;
}

/** Nothing accepts connections at the address. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError';
  readonly code = 'UND_ERR_CONNECT_TIMEOUT';
}

export type ConnectionCheck = {
  readonly url: string;
  /** Time without a response before the address is tried, and timeout of that connection attempt. */
  readonly connectMs: number;
};

/**
 * Rejects early when the address accepts no connection. fetch itself waits 10 s for one (where packets are dropped), and
 * its limit can only be changed for the whole process. A slow call continues, and a fast one costs only a timer.
 */
export async function withConnectionCheck<T>(check: ConnectionCheck, call: Promise<T>): Promise<T> {
  const { promise: unreachable, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(async () => {
    if (!(await accepts(check))) reject(new NoConnectionError('no connection within the time allowed'));
  }, check.connectMs);
  try {
    return await Promise.race([call, unreachable]);
  } finally {
    clearTimeout(timer);
  }
}

function accepts({ url, connectMs }: ConnectionCheck): Promise<boolean> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({ host, port: Number(port || DEFAULT_PORTS[protocol]), timeout: connectMs });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true));
  socket.once('timeout', () => resolve(false));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
