import type { Clock } from '../clock.ts';
import { type ChangeFeed, type ChangeTopic, nextChange } from './changes.ts';

export type WaitForChangeDeps = {
  readonly store: { readonly changes: ChangeFeed };
  readonly clock: Clock;
  /** Aborts when the service closes, so that waiting readers get their responses. */
  readonly closing: AbortSignal;
};

export type AwaitedChange = {
  readonly topic: ChangeTopic;
  /** Monotonic milliseconds. */
  readonly deadline: number;
  /** Reads whether there is something new. Called again after each change of the topic. */
  readonly hasChanged: () => Promise<boolean>;
};

/** A waiting reader reads again after this time, because a notification may be lost. */
const MAX_SLEEP_MS = 10_000;

/** Resolves when `hasChanged` returns true, at the deadline, or when the service closes. */
export async function waitForChange(
  { store, clock, closing }: WaitForChangeDeps,
  { topic, deadline, hasChanged }: AwaitedChange,
): Promise<void> {
  while (clock.monotonic() < deadline && !closing.aborted) {
    const sleeping = new AbortController();
    // Subscribes before the read, so that a change in between ends the sleep.
    const changed = nextChange(store.changes, topic, AbortSignal.any([closing, sleeping.signal]));
    if (await hasChanged()) return sleeping.abort();
    const sleepMs = Math.min(MAX_SLEEP_MS, deadline - clock.monotonic());
    await Promise.race([changed, clock.sleep(sleepMs, sleeping.signal).catch(() => {})]);
    sleeping.abort();
  }
}
