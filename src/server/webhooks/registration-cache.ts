import type { Clock } from '../platform/clock.ts';
import type { Webhook } from './store.ts';

/**
 * The version tells every change that this program makes, at whichever instance. Other changes, such as those of an
 * older version during an upgrade or of an administrator, are seen after this time.
 */
const MAX_AGE_MS = 10_000;

type Entry = {
  readonly version: number;
  readonly readAt: number;
  readonly webhooks: readonly Webhook[];
};

/** All registrations of webhooks, so that not every event has to read and decode them. */
export class RegistrationCache {
  readonly #clock: Clock;
  #entry: Entry | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the registrations of `version`, or reads newer ones. */
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
