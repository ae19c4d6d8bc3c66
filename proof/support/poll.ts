import { setTimeout as delay } from 'node:timers/promises';

export type PollPace = { readonly everyMs: number; readonly withinMs: number };

type Poll = <T>(look: () => Promise<T | undefined>) => Promise<T>;

/** Returns a function that repeats `look` until it finds something, and throws when the time is over. */
export function pollEvery({ everyMs, withinMs }: PollPace): Poll {
  return async (look) => {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > deadline) throw new Error(`found nothing within ${withinMs} ms`);
      await delay(everyMs);
    }
  };
}
