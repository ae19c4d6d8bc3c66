import { setTimeout as delay } from 'node:timers/promises';

export type PollPace = { readonly everyMs: number; readonly withinMs: number };

type Poll = <T>(look: () => Promise<T | false | undefined>) => Promise<T>;

/** Returns a function that repeats `look` until it finds something, and throws when the time is over. */
export function pollEvery(pace: PollPace): Poll {
  return async (look) => {
    const found = await findWithin(pace, look);
    if (found === undefined) throw new Error(`found nothing within ${pace.withinMs} ms`);
    return found;
  };
}

/** Repeats `look` until it finds something. Resolves to undefined when the time is over. */
export async function findWithin<T>(
  { everyMs, withinMs }: PollPace,
  look: () => Promise<T | false | undefined>,
): Promise<T | undefined> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) return undefined;
    await delay(everyMs);
  }
}

type Arrivals = {
  /** The number of arrivals so far. */
  readonly count: () => number;
  readonly isEnough: () => boolean;
  readonly everyMs: number;
  readonly silenceMs: number;
};

/** Resolves when enough has arrived, or when nothing has arrived for a while. */
export async function untilEnoughOrSilence({ count, isEnough, everyMs, silenceMs }: Arrivals): Promise<void> {
  let last = { count: count(), at: performance.now() };
  while (!isEnough() && performance.now() - last.at < silenceMs) {
    await delay(everyMs);
    if (count() > last.count) last = { count: count(), at: performance.now() };
  }
}
