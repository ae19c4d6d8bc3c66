import type { ErrorCode } from '../../contract/errors.ts';

/*
 * GET and DELETE are sent again on 429 and 503: the service states these before it has done anything, and both methods
 * may be repeated. A POST carries an Idempotency-Key, under which it is done once, and is sent again where that helps soon:
 * not when a recorder or an add-on is missing. Retry-After is honoured up to a bound; a server that asks for a longer
 * pause gets its response passed on instead.
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

/** The longest pause that a caller is made to wait through, in milliseconds. */
const MAX_RETRY_PAUSE_MS = 10_000;
const FIRST_PAUSE_MS = 250;

export type RetrySubject = {
  readonly method: string;
  readonly status: number;
  /** The code of the problem in the response to a POST. */
  readonly code: string | undefined;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly retryAfterSeconds: number | undefined;
};

/** How long to wait before the next attempt, in milliseconds; undefined when there is to be none. */
export function retryPauseMs(subject: RetrySubject, random: () => number): number | undefined {
  if (!isRetried(subject) || subject.attempt >= subject.maxAttempts) return undefined;
  if (subject.retryAfterSeconds !== undefined) {
    const pauseMs = subject.retryAfterSeconds * 1000;
    return pauseMs <= MAX_RETRY_PAUSE_MS ? pauseMs : undefined;
  }
  return spreadPauseMs(subject.attempt, random);
}

/** The pause after an attempt that was not told how long to wait, in milliseconds. */
export function spreadPauseMs(attempt: number, random: () => number): number {
  const ceilingMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
  return ceilingMs / 2 + (ceilingMs / 2) * random();
}

function isRetried({ method, status, code }: RetrySubject): boolean {
  if (method === 'POST') return code !== undefined && RETRIED_POSTS.has(code);
  return RETRIED_METHODS.has(method) && RETRIED_STATUS.has(status);
}

/** Retry-After in seconds from now, from either form of RFC 9110, section 10.2.3. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim());
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}

/** Waits; rejects with the signal's reason as soon as it aborts. */
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
