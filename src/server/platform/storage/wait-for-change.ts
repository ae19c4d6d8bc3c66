import type { Clock } from '../clock.ts';
import { type ChangeFeed, type ChangeTopic, nextChange } from './changes.ts';

export type WaitForChangeDeps = {
  readonly store: { readonly changes: ChangeFeed };
  readonly clock: Clock;
  /** Aborts when the service closes: waiting readers get their response then. */
  readonly closing: AbortSignal;
};

export type AwaitedChange = {
  readonly topic: ChangeTopic;
  /** Monotonic milliseconds. */
  readonly deadline: number;
  /** Reads whether there is something new; asked again after each change of the topic. */
  readonly hasChanged: () => Promise<boolean>;
};

/** A waiting reader looks again after this, in case a notification was lost. */
const MAX_SLEEP_MS = 10_000;

/** Resolves when `hasChanged` says so, at the deadline, or when the service closes. */
export async function waitForChange(
  { store, clock, closing }: WaitForChangeDeps,
  { topic, deadline, hasChanged }: AwaitedChange,
): Promise<void> {
  while (clock.monotonic() < deadline && !closing.aborted) {
    const sleeping = new AbortController();
    // Subscribed before the read: a change between them ends the sleep.
    const changed = nextChange(store.changes, topic, AbortSignal.any([closing, sleeping.signal]));
    if (await hasChanged()) return sleeping.abort();
    const sleepMs = Math.min(MAX_SLEEP_MS, deadline - clock.monotonic());
    await Promise.race([changed, clock.sleep(sleepMs, sleeping.signal).catch(() => {})]);
    sleeping.abort();
  }
}
