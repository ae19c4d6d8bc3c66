import type { ChangeFeed } from '../platform/storage/changes.ts';

/**
 * Shares running reads of the events among readers with the same query. A read that began before a change is not shared with
 * readers that ask after the change, because it may not include the new event.
 */
export class SharedReads<Value> {
  readonly #reads = new Map<string, Promise<Value>>();

  constructor(changes: ChangeFeed) {
    changes.subscribe('events', () => this.#reads.clear());
  }

  get(key: string, read: () => Promise<Value>): Promise<Value> {
    const running = this.#reads.get(key);
    if (running !== undefined) return running;
    const started = read().finally(() => {
      if (this.#reads.get(key) === started) this.#reads.delete(key);
    });
    this.#reads.set(key, started);
    return started;
  }
}
