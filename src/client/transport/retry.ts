import type { ErrorCode } from '../../contract/errors.ts';
import { RtcError } from '../rtc-error.ts';

/*
 * Decides about retries. GET and DELETE are sent again on 429 and 503: the service sends these before it does anything, and
 * both methods may be repeated. A POST has an Idempotency-Key, so that it takes effect once; it is sent again when that
 * helps soon, and not when a recorder or an add-on is missing. Retry-After is honoured up to a limit. If a server asks for a
 * longer pause, its response is passed on.
 */

const RETRIED_METHODS: ReadonlySet<string> = new Set(['GET', 'DELETE']);

const RETRIED_STATUS: ReadonlySet<number> = new Set([429, 503]);

const RETRIED_POSTS: ReadonlySet<string> = new Set([
  'rate-limited',
  'server-busy',
  'shutting-down',
  'storage-unavailable',
  'secret-unavailable',
  'idempotency-in-progress',
] satisfies ErrorCode[]);

/** Maximum pause before a retry, in milliseconds. */
const MAX_RETRY_PAUSE_MS = 10_000;

const FIRST_PAUSE_MS = 250;

type RetrySubject = {
  readonly method: string;
  readonly status: number;
  /** Problem code of the response to a POST. */
  readonly code: string | undefined;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly retryAfterSeconds: number | undefined;
};

/** Returns the pause before the next attempt, in milliseconds; undefined when there is none. */
export function retryPauseMs(subject: RetrySubject, random: () => number): number | undefined {
  if (!isRetried(subject) || subject.attempt >= subject.maxAttempts) return undefined;
  if (subject.retryAfterSeconds !== undefined) {
    const pauseMs = subject.retryAfterSeconds * 1000;
    return pauseMs <= MAX_RETRY_PAUSE_MS ? pauseMs : undefined;
  }
  return spreadPauseMs(subject.attempt, random);
}

/** Returns the pause after a response without Retry-After, in milliseconds. */
export function spreadPauseMs(attempt: number, random: () => number): number {
  const ceilingMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
  return ceilingMs / 2 + (ceilingMs / 2) * random();
}

function isRetried({ method, status, code }: RetrySubject): boolean {
  if (method === 'POST') return code !== undefined && RETRIED_POSTS.has(code);
  return RETRIED_METHODS.has(method) && RETRIED_STATUS.has(status);
}

/** Parses Retry-After, in either form of RFC 9110, section 10.2.3, as seconds from now. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim());
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}

/** Waits. Rejects with the signal's reason as soon as it aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export type WaitDeps = {
  readonly pause?: typeof pause | undefined;
  readonly random?: (() => number) | undefined;
};

export type WaitOptions = {
  /** Ends the wait and the iteration, which then throws RtcError `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a temporary error, once each time that the service becomes unavailable. */
  readonly onInterruption?: ((error: RtcError) => void) | undefined;
  /** Called when the service is available again. */
  readonly onResumption?: (() => void) | undefined;
};

const FIRST_OUTAGE_PAUSE_MS = 250;

const MAX_OUTAGE_PAUSE_MS = 5000;

/** Repeats a call until it has a response: waits for a service that is unavailable, restarts or is overloaded. */
export async function retryUntilResponse<T>(
  deps: WaitDeps,
  options: WaitOptions,
  call: () => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      const response = await call();
      if (failures > 0) options.onResumption?.();
      return response;
    } catch (error) {
      if (!(error instanceof RtcError) || !isTemporary(error)) throw error;
      if (failures === 0) options.onInterruption?.(error);
      await pauseAfter(deps, { error, failures, signal: options.signal });
    }
  }
}

/**
 * Returns whether the error may be temporary: no connection or response in time, an overloaded service, one that fails or shuts
 * down, or a proxy without its service.
 */
function isTemporary({ code, status }: RtcError): boolean {
  if (code === 'unreachable' || code === 'timed-out') return true;
  return status !== undefined && (status >= 500 || status === 408 || status === 429);
}

type FailedCall = {
  readonly error: RtcError;
  readonly failures: number;
  readonly signal: AbortSignal | undefined;
};

async function pauseAfter(deps: WaitDeps, { error, failures, signal }: FailedCall): Promise<void> {
  const ceilingMs = Math.min(FIRST_OUTAGE_PAUSE_MS * 2 ** Math.min(failures, 10), MAX_OUTAGE_PAUSE_MS);
  const spreadMs = ceilingMs * (0.5 + 0.5 * (deps.random ?? Math.random)());
  const requestedMs = Math.min((error.retryAfterSeconds ?? 0) * 1000, MAX_OUTAGE_PAUSE_MS);
  try {
    await (deps.pause ?? pause)(Math.max(spreadMs, requestedMs), signal);
  } catch (cause) {
    const { method, path } = error;
    throw new RtcError({ method, path, code: 'aborted', detail: 'the call was cancelled', cause });
  }
}
