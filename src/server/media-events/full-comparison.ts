import type { Clock } from '../platform/clock.ts';
import { keepLease } from '../platform/jobs/keep-lease.ts';
import type { Log } from '../platform/log.ts';
import type { ComparisonNumbers, ComparisonStore } from './comparisons.ts';

/*
 * The comparison of everything with the media server, which follows a time in which events may have been missed. Of several
 * instances that need one, one makes it, and the others rely on it:
 *   - After a start, any running comparison is sufficient: the instance that makes it was there before this one, and
 *     receives the events in the meantime. A comparison that ended before is not: there may have been no instance since.
 *   - After rejected events, the comparison must begin later than the rejection: a running one may have compared their
 *     rooms already. The order is determined by numbers in the database, not by clocks.
 *
 * An instance that was killed during a comparison blocks the others until its lease ends. An instance that was suspended for
 * longer gives its comparison up, or completes it beside the next one: every change locks its room, and is stored once.
 */

/** Short, because the instances that wait for a dead one have not published the missed events yet. */
const LEASE_MS = 3_000;
/** Interval at which instances that rely on another one check whether its comparison has ended. */
export const POLL_INTERVAL_MS = 1_000;

export type FullComparisonDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: { readonly comparisons: ComparisonStore };
  readonly instanceId: string;
  /** Called when everything has been compared. `startedAt` is an instant before the comparison, by the monotonic clock. */
  readonly onCompared?: ((startedAt: number) => void) | undefined;
};

type Cause = 'start' | 'refused-events';

type Need = {
  readonly cause: Cause;
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Number of the first sufficient comparison of another instance; undefined until a running one was found. */
  readonly servedFrom: number | undefined;
};

export class FullComparison {
  readonly #deps: FullComparisonDeps;
  #need: Need | undefined;

  constructor(deps: FullComparisonDeps) {
    this.#deps = deps;
    this.need('start');
  }

  need(cause: Cause): void {
    this.#need = { cause, at: this.#deps.clock.monotonic(), servedFrom: undefined };
  }

  get isNeeded(): boolean {
    return this.#need !== undefined;
  }

  /**
   * Runs `work`, which compares everything, unless another instance does so: then it returns false, and must be called again
   * after POLL_INTERVAL_MS while the comparison is needed. The signal of the work aborts when another instance has taken
   * over.
   */
  async run(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const need = this.#need;
    if (need === undefined) return false;
    if (need.servedFrom !== undefined && (await this.#numbers()).completed >= need.servedFrom) {
      this.#serve(need, need.at);
      return false;
    }
    const startedAt = this.#deps.clock.monotonic();
    const number = await this.#begin();
    if (number !== undefined) {
      await this.#compare({ number, signal, work });
      this.#serve(need, startedAt);
      return true;
    }
    // Reads the numbers after the other comparison was found running: it may have ended by now, and is sufficient all the
    // same.
    const { begun } = await this.#numbers();
    const servedFrom = need.servedFrom ?? (need.cause === 'start' ? begun : begun + 1);
    if (this.#need === need) this.#need = { ...need, servedFrom };
    return false;
  }

  async #compare({ number, signal, work }: Begun): Promise<void> {
    const { clock, log, store, instanceId } = this.#deps;
    const comparison = { owner: instanceId, number };
    const renew = () => store.comparisons.renew(comparison, clock.now() + LEASE_MS);
    let outcome: 'completed' | 'given-up' = 'given-up';
    try {
      await keepLease({ clock, log, leaseMs: LEASE_MS, renew, signal }, work);
      outcome = 'completed';
    } finally {
      await store.comparisons.end(comparison, outcome).catch((error: unknown) => {
        log.warn(
          { err: error },
          'the end of a comparison could not be stored; others wait until its lease ends',
        );
      });
    }
  }

  async #begin(): Promise<number | undefined> {
    const { clock, store, instanceId } = this.#deps;
    const now = clock.now();
    return await store.comparisons.begin({ owner: instanceId, until: now + LEASE_MS }, now);
  }

  #numbers(): Promise<ComparisonNumbers> {
    return this.#deps.store.comparisons.numbers();
  }

  #serve(need: Need, startedAt: number): void {
    // Events that were rejected in the meantime need another comparison.
    if (this.#need === need) this.#need = undefined;
    this.#deps.onCompared?.(startedAt);
  }
}

type Begun = {
  readonly number: number;
  readonly signal: AbortSignal;
  readonly work: (signal: AbortSignal) => Promise<void>;
};
