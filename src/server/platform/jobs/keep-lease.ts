import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

export type LeaseRenewal = {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly leaseMs: number;
  /** Prolongs the lease by `leaseMs`. Returns false when another instance holds it now. */
  readonly renew: () => Promise<boolean>;
  /** Aborts when the work must end, such as at shutdown. */
  readonly signal: AbortSignal;
};

/** Number of renewals within the duration of a lease, so that one renewal may fail. */
const RENEWALS_PER_LEASE = 3;

/**
 * Runs `work` while a lease is held, and renews it until the work ends. The work's signal aborts when the lease was
 * lost, could not be renewed before it ran out, or `signal` aborts: from then on another instance may do the same.
 */
export async function keepLease<T>(
  { clock, log, leaseMs, renew, signal }: LeaseRenewal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const ended = new AbortController();
  const stopped = AbortSignal.any([signal, ended.signal]);
  const renewing = renewUntilStopped();
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    ended.abort();
    await renewing;
  }

  async function renewUntilStopped(): Promise<void> {
    let leaseUntil = clock.monotonic() + leaseMs;
    while (!stopped.aborted) {
      await clock.sleep(leaseMs / RENEWALS_PER_LEASE, stopped).catch(() => {});
      if (stopped.aborted) return;
      const requestedAt = clock.monotonic();
      try {
        if (!(await renew())) return lost.abort();
        leaseUntil = requestedAt + leaseMs;
      } catch (error) {
        log.warn({ err: error }, 'renewing a lease failed; trying again');
        if (clock.monotonic() >= leaseUntil) return lost.abort();
      }
    }
  }
}
