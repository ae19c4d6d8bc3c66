import type { ChangeFeed } from '../platform/storage/changes.ts';
import { SharedReads } from './shared-reads.ts';

/** The position of the last stored event: read from the database, and remembered until the next change of the events. */
export class LastPosition {
  readonly #read: () => Promise<number>;
  readonly #reads: SharedReads<number>;
  #known: number | undefined;
  #changes = 0;

  constructor(changes: ChangeFeed, read: () => Promise<number>) {
    this.#read = read;
    this.#reads = new SharedReads(changes);
    changes.subscribe('events', () => {
      this.#known = undefined;
      this.#changes += 1;
    });
  }

  /**
   * The position that was read last, undefined when a change was reported since. A change of another process may go
   * unreported, so that only a reader who looks again after some time may rely on it.
   */
  get known(): number | undefined {
    return this.#known;
  }

  /** Reads the position, in one read with those who ask at the same time. */
  async read(): Promise<number> {
    const changesBefore = this.#changes;
    const position = await this.#reads.get('last', this.#read);
    if (changesBefore === this.#changes) this.#known = position;
    return position;
  }
}
