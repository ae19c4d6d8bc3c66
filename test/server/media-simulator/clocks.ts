import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, IdGenerator } from '../../../src/server/platform/clock.ts';

const LOOK_EVERY_MS = 5;
/** Longest pause of this process that counts. Longer ones happen when the machine is busy. */
const LONGEST_STALL_MS = 25;

export type FastClock = Clock & {
  /** Sets how many times as fast as the machine's time this clock is. */
  readonly setFactor: (factor: number) => void;
};

/** A sleep checks the clock at least this often, so that it notices a changed factor. */
const LONGEST_NAP_MS = 250;

/**
 * A clock that is `factor` times as fast as the machine's, for tests with many waits. It stops while this process does not
 * run. Otherwise half a second of a busy machine would become ten seconds for everybody in the test.
 */
export function fastClock(factor: number): FastClock {
  const startedAt = Date.now();
  let currentFactor = factor;
  let passedMs = 0;
  let lookedAt = performance.now();
  const now = (): number => {
    const looksAt = performance.now();
    passedMs += Math.min(looksAt - lookedAt, LONGEST_STALL_MS) * currentFactor;
    lookedAt = looksAt;
    return startedAt + Math.round(passedMs);
  };
  setInterval(now, LOOK_EVERY_MS).unref();
  return {
    now,
    monotonic: now,
    setFactor: (next) => {
      now();
      currentFactor = next;
    },
    sleep: async (ms, signal) => {
      const until = now() + ms;
      let leftMs = ms;
      do {
        const napMs = Math.min(leftMs / currentFactor, LONGEST_NAP_MS);
        await delay(napMs, undefined, signal === undefined ? {} : { signal });
        leftMs = until - now();
      } while (leftMs > 0);
    },
  };
}

export type ManualClock = Clock & {
  /** Advances the time. Sleepers wake up in order, and what they start may sleep and wake up within it too. */
  readonly advance: (ms: number) => Promise<void>;
  /** Resolves when somebody sleeps for that long. */
  readonly untilSleeping: (ms: number) => Promise<void>;
};

type Sleeper = { readonly ms: number; readonly at: number; readonly wake: () => void };

/** A clock that only the test advances, for tests of limits. */
export function manualClock(): ManualClock {
  let time = Date.now();
  const sleepers = new Set<Sleeper>();
  const changes = new EventTarget();
  const settle = async () => {
    // Code that was woken up may need several turns before it sleeps again.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    now: () => time,
    monotonic: () => time,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const wake = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        const sleeper = { ms, at: time + ms, wake };
        signal?.addEventListener('abort', stop, { once: true });
        sleepers.add(sleeper);
        changes.dispatchEvent(new Event('sleep'));
      }),
    advance: async (ms) => {
      const until = time + ms;
      await settle();
      for (;;) {
        const next = [...sleepers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        time = next.at;
        next.wake();
        await settle();
      }
      time = until;
    },
    untilSleeping: (ms) =>
      new Promise((resolve) => {
        const look = () => {
          if (![...sleepers].some((sleeper) => sleeper.ms === ms)) return;
          changes.removeEventListener('sleep', look);
          resolve();
        };
        changes.addEventListener('sleep', look);
        look();
      }),
  };
}

export function countingIds(): IdGenerator {
  let count = 0;
  return {
    next: () => {
      count += 1;
      return `id${count}`;
    },
  };
}
