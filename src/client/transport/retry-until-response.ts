import { RtcError } from '../rtc-error.ts';
import { pause } from './retry.ts';

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

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;

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
      if (!(error instanceof RtcError) || !mayPass(error)) throw error;
      if (failures === 0) options.onInterruption?.(error);
      await pauseAfter(deps, { error, failures, signal: options.signal });
    }
  }
}

/**
 * Whether the error may be temporary: no connection, an overloaded service, one that shuts down, or a proxy without its
 * service.
 */
function mayPass({ code, status }: RtcError): boolean {
  if (code === 'unreachable' || code === 'timed-out') return true;
  return status !== undefined && (status >= 500 || status === 408 || status === 429);
}

type FailedCall = {
  readonly error: RtcError;
  readonly failures: number;
  readonly signal: AbortSignal | undefined;
};

async function pauseAfter(deps: WaitDeps, { error, failures, signal }: FailedCall): Promise<void> {
  const ceilingMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), MAX_PAUSE_MS);
  const spreadMs = ceilingMs * (0.5 + 0.5 * (deps.random ?? Math.random)());
  const requestedMs = Math.min((error.retryAfterSeconds ?? 0) * 1000, MAX_PAUSE_MS);
  try {
    await (deps.pause ?? pause)(Math.max(spreadMs, requestedMs), signal);
  } catch (cause) {
    const { method, path } = error;
    throw new RtcError({ method, path, code: 'aborted', detail: 'the call was cancelled', cause });
  }
}
