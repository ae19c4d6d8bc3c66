import { pause } from './retry.ts';
import { RtcError } from './rtc-error.ts';

export type WaitDeps = {
  readonly pause?: typeof pause | undefined;
  readonly random?: (() => number) | undefined;
};

export type WaitOptions = {
  /** Ends the waiting, and the iteration that waits: it throws RtcError `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Told of a fault that may pass, once each time that the service goes away. */
  readonly onInterruption?: ((error: RtcError) => void) | undefined;
  /** Told when the service is back. */
  readonly onResumption?: (() => void) | undefined;
};

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;

/** Asks until there is an answer: a service that goes away, restarts or is overloaded is waited for. */
export async function untilAnswered<T>(
  deps: WaitDeps,
  options: WaitOptions,
  ask: () => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      const answer = await ask();
      if (failures > 0) options.onResumption?.();
      return answer;
    } catch (error) {
      if (!(error instanceof RtcError) || !mayPass(error)) throw error;
      if (failures === 0) options.onInterruption?.(error);
      await pauseAfter(deps, { error, failures, signal: options.signal });
    }
  }
}

/** No connection, an overloaded service, one that closes, or a proxy before one that is not there. */
function mayPass({ code, status }: RtcError): boolean {
  if (code === 'unreachable' || code === 'timed-out') return true;
  return status !== undefined && (status >= 500 || status === 408 || status === 429);
}

type Failed = {
  readonly error: RtcError;
  readonly failures: number;
  readonly signal: AbortSignal | undefined;
};

async function pauseAfter(deps: WaitDeps, { error, failures, signal }: Failed): Promise<void> {
  const ceilingMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), MAX_PAUSE_MS);
  const spreadMs = ceilingMs * (0.5 + 0.5 * (deps.random ?? Math.random)());
  const askedMs = Math.min((error.retryAfterSeconds ?? 0) * 1000, MAX_PAUSE_MS);
  try {
    await (deps.pause ?? pause)(Math.max(spreadMs, askedMs), signal);
  } catch (cause) {
    const { method, path } = error;
    throw new RtcError({ method, path, code: 'aborted', detail: 'the call was cancelled', cause });
  }
}
