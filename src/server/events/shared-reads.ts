import type { ChangeFeed } from '../platform/storage/changes.ts';

/**
 * Reads of the events that are under way, by what they ask for: readers who wait for the same events share one. A read
 * that began before a change is not shared with those who ask after it, because it may not have what they were woken for.
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
