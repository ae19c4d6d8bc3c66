import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../src/server/platform/clock.ts';

/** The system's clock, which a test can move forward. Then everybody who sleeps until that time wakes up. */
export class SkippableClock implements Clock {
  #aheadMs = 0;
  #skipped = new AbortController();

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  monotonic(): number {
    return performance.now() + this.#aheadMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = this.monotonic() + ms;
    while (this.monotonic() < until) {
      const interrupted = AbortSignal.any([this.#skipped.signal, ...(signal === undefined ? [] : [signal])]);
      await delay(Math.max(0, until - this.monotonic()), undefined, { signal: interrupted }).catch(() => {});
      signal?.throwIfAborted();
    }
  }

  skip(ms: number): void {
    this.#aheadMs += ms;
    this.#skipped.abort();
    this.#skipped = new AbortController();
  }
}
