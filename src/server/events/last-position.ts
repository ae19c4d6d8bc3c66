import type { Clock } from '../platform/clock.ts';
import type { ChangeFeed } from '../platform/storage/changes.ts';
import { SharedReads } from './shared-reads.ts';

/** Age up to which a position is recent. */
const RECENT_MS = 1_000;

export type LastPositionDeps = {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly changes: ChangeFeed;
  readonly read: () => Promise<number>;
};

/** Position of the last stored event, cached until the next change of the events. */
export class LastPosition {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #read: () => Promise<number>;
  readonly #reads: SharedReads<number>;
  #known: number | undefined;
  #knownAt = 0;
  #changes = 0;

  constructor({ clock, changes, read }: LastPositionDeps) {
    this.#clock = clock;
    this.#read = read;
    this.#reads = new SharedReads(changes);
    changes.subscribe('events', () => {
      this.#known = undefined;
      this.#changes += 1;
    });
  }

  /**
   * The cached position; undefined when a change was reported since it was read. A change by another process may go
   * unreported, so that only callers that read again after some time may rely on it.
   */
  get known(): number | undefined {
    return this.#known;
  }

  /**
   * Returns the cached position if it is recent, and reads it otherwise. A hundred readers that look again after some time,
   * one after the other, then cause one read a second.
   */
  async recent(): Promise<number> {
    const isRecent = this.#clock.monotonic() - this.#knownAt < RECENT_MS;
    return this.#known !== undefined && isRecent ? this.#known : await this.read();
  }

  /** Reads the position. Concurrent callers share one read. */
  async read(): Promise<number> {
    const changesBefore = this.#changes;
    const startedAt = this.#clock.monotonic();
    const position = await this.#reads.get('last', this.#read);
    if (changesBefore === this.#changes) {
      this.#known = position;
      this.#knownAt = startedAt;
    }
    return position;
  }
}
