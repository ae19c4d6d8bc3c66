import type { Clock } from '../platform/clock.ts';

/** Returns the result of `work`, or undefined when it takes longer than `ms` milliseconds. The work continues. */
export async function withinTime<T>(clock: Clock, work: Promise<T>, ms: number): Promise<T | undefined> {
  const timer = new AbortController();
  const timeUp = clock.sleep(ms, timer.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    timer.abort();
  }
}
