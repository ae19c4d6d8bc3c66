import type { Clock } from '../../src/server/platform/clock.ts';

/** A clock that only the test advances. */
export class ManualClock implements Clock {
  #now: number;
  #passedMs = 0;
  readonly #sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#passedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (ms <= 0) return resolve();
      const abort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      // Node keeps a composite signal for as long as it has a listener.
      const wake = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const sleeper = { until: this.#passedMs + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** How many wait for a later time. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Sets the time of day back, as an administrator can. Nobody's sleep becomes longer. */
  setBack(ms: number): void {
    this.#now -= ms;
  }

  advance(ms: number): void {
    this.#now += ms;
    this.#passedMs += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.until > this.#passedMs) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}
