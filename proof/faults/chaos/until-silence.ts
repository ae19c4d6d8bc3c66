import { setTimeout as delay } from 'node:timers/promises';

/** Longer than any lease, retry or restart takes. */
const SILENCE_MS = 90_000;
const POLL_INTERVAL_MS = 5;

/** Resolves when enough has arrived, or when nothing has arrived for `SILENCE_MS`. */
export async function untilEnoughOrSilence(arrivals: () => number, isEnough: () => boolean): Promise<void> {
  let last = { arrivals: arrivals(), at: performance.now() };
  while (!isEnough() && performance.now() - last.at < SILENCE_MS) {
    await delay(POLL_INTERVAL_MS);
    if (arrivals() > last.arrivals) last = { arrivals: arrivals(), at: performance.now() };
  }
}
