import type { ChangeFeed } from '../platform/storage/changes.ts';
import { SharedReads } from './shared-reads.ts';

/** Position of the last stored event, cached until the next change of the events. */
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
   * The cached position; undefined when a change was reported since it was read. A change by another process may go
   * unreported, so that only callers that read again after some time may rely on it.
   */
  get known(): number | undefined {
    return this.#known;
  }

  /** Reads the position. Concurrent callers share one read. */
  async read(): Promise<number> {
    const changesBefore = this.#changes;
    const position = await this.#reads.get('last', this.#read);
    if (changesBefore === this.#changes) this.#known = position;
    return position;
  }
}
