import type { Clock } from '../platform/clock.ts';
import type { Webhook } from './store.ts';

/**
 * The version changes with every change that this program makes, on any instance. Changes by an older version of the program
 * during an upgrade, or by an administrator in the database, are seen after this time.
 */
const MAX_AGE_MS = 10_000;

type Entry = {
  readonly version: number;
  readonly readAt: number;
  readonly webhooks: readonly Webhook[];
};

/** All registrations of webhooks in memory, so that they are not read and decoded for every event. */
export class RegistrationCache {
  readonly #clock: Clock;
  #entry: Entry | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the cached registrations of `version`, or calls `read`. */
  async get(version: number, read: () => Promise<readonly Webhook[]>): Promise<readonly Webhook[]> {
    const now = this.#clock.monotonic();
    const entry = this.#entry;
    if (entry !== undefined && entry.version === version && now - entry.readAt < MAX_AGE_MS) {
      return entry.webhooks;
    }
    const webhooks = await read();
    this.#entry = { version, readAt: now, webhooks };
    return webhooks;
  }
}
