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

/** Counts again and again until there is none. Resolves to the last count. */
export async function countUntilNone(pace: PollPace, count: () => Promise<number>): Promise<number> {
  let left = 0;
  await findWithin(pace, async () => {
    left = await count();
    return left === 0;
  });
  return left;
}

/** Looks again and again until it is closed. A look that lasts longer is not overtaken by the next one. */
export function lookEvery(everyMs: number, look: () => Promise<void>): { readonly close: () => void } {
  let isLooking = false;
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    await look();
    isLooking = false;
  }, everyMs);
  return { close: () => clearInterval(timer) };
}

/** The durations of requests, and the outcomes that were not 200. */
export type Probed = { readonly timesMs: readonly number[]; readonly failures: readonly string[] };

/** Asks at this pace until the signal. */
export async function askUntil(
  over: AbortSignal,
  everyMs: number,
  ask: (count: number) => Promise<{ readonly status: number }>,
): Promise<Probed> {
  const [timesMs, failures]: [number[], string[]] = [[], []];
  for (let count = 0; !over.aborted; count += 1) {
    const startedAt = performance.now();
    const outcome = await ask(count).then(
      ({ status }) => `${status}`,
      (error: Error) => error.message,
    );
    timesMs.push(performance.now() - startedAt);
    if (outcome !== '200') failures.push(outcome);
    await delay(everyMs);
  }
  return { timesMs, failures };
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
