import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, IdGenerator } from '../../../src/server/platform/clock.ts';

const LOOK_EVERY_MS = 5;
/** What a stall of this process counts for at most, however long the machine was busy elsewhere. */
const LONGEST_STALL_MS = 25;

export type FastClock = Clock & {
  /** From now on time passes so many times as fast as the machine's. */
  readonly setFactor: (factor: number) => void;
};

/** A sleep looks at the clock again at least as often, so that it takes part in a change of the factor. */
const LONGEST_NAP_MS = 250;

/**
 * Time that passes `factor` times as fast as the machine's: for flows of many waits. It stands still while this process
 * gets no turn: otherwise half a second of a busy machine would be ten that everybody in the test has waited.
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
  /** Lets the time pass; those who wait wake up in order, and what they start then may wait within it too. */
  readonly advance: (ms: number) => Promise<void>;
  /** Resolves when someone waits for that long. */
  readonly untilSleeping: (ms: number) => Promise<void>;
};

type Sleeper = { readonly ms: number; readonly at: number; readonly wake: () => void };

/** Time that passes only when told: for boundaries. */
export function manualClock(): ManualClock {
  let time = Date.now();
  const sleepers = new Set<Sleeper>();
  const changes = new EventTarget();
  const settle = async () => {
    // What was woken may need several turns before it waits again.
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
