import type { ErrorCode } from '../../contract/errors.ts';

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
  'idempotency-in-progress',
] satisfies ErrorCode[]);

/** Maximum pause before a retry, in milliseconds. */
const MAX_RETRY_PAUSE_MS = 10_000;
const FIRST_PAUSE_MS = 250;

export type RetrySubject = {
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
