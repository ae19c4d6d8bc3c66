import { type Clock, systemClock } from '../clock.ts';

export type BatcherOptions<Item> = {
  /** Maximum items of one batch. */
  readonly maxSize: number;
  readonly flush: (items: readonly Item[]) => Promise<void>;
  /**
   * A batch waits for more items for `ms`, until it has `size` of them. Without `gather` a batch is flushed at once, and
   * items that arrive in the meantime go into the next one.
   */
  readonly gather?: { readonly ms: number; readonly size: number };
  /** Measures the wait of `gather`. Real time by default, because a test that stops its clock must not stop the batcher. */
  readonly timer?: Pick<Clock, 'sleep'> | undefined;
  /** Returns whether the items of a batch that failed with `error` are tried one by one, so that one cannot fail all. */
  readonly splitsAfter?: (error: unknown) => boolean;
  /**
   * Called when a batch of `count` items failed. When it resolves the items are flushed again, before later ones. Without it
   * a batch that failed is not repeated.
   */
  readonly beforeRetry?: (error: unknown, count: number) => Promise<void>;
};

type Pending<Item> = {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/** Flushes items in batches, one batch at a time. */
export class Batcher<Item> {
  readonly #options: BatcherOptions<Item>;
  readonly #pending: Pending<Item>[] = [];
  #running: Promise<void> | undefined;
  #gathering = new AbortController();
  #isHurried = false;
  #isAbandoned = false;

  constructor(options: BatcherOptions<Item>) {
    this.#options = options;
  }

  /** Resolves when the item is flushed or dropped; rejects when its flush failed and is not repeated. */
  add(item: Item): Promise<void> {
    if (this.#isAbandoned) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#pending.push({ item, resolve, reject });
      if (this.#pending.length === this.#options.gather?.size) this.#gathering.abort();
      this.#running ??= this.#run();
    });
  }

  /** Flushes everything without waiting for more items. Later items are not gathered either. */
  async close(): Promise<void> {
    this.#isHurried = true;
    this.#gathering.abort();
    while (this.#running !== undefined) await this.#running;
  }

  /** Drops the items that wait, and later ones. A flush that is running is not repeated. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#gathering.abort();
    for (const { resolve } of this.#pending.splice(0)) resolve();
  }

  async #run(): Promise<void> {
    const { maxSize, gather } = this.#options;
    while (this.#pending.length > 0) {
      if (gather !== undefined && this.#pending.length < gather.size) await this.#gather(gather.ms);
      const batch = this.#pending.splice(0, maxSize);
      if (batch.length > 0) await this.#flush(batch);
    }
    this.#running = undefined;
  }

  async #gather(ms: number): Promise<void> {
    if (this.#isHurried) return;
    this.#gathering = new AbortController();
    const { timer = systemClock } = this.#options;
    await timer.sleep(ms, this.#gathering.signal).catch(() => {});
  }

  async #flush(batch: readonly Pending<Item>[]): Promise<void> {
    try {
      await this.#options.flush(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      await this.#handleFailure(batch, error);
    }
  }

  async #handleFailure(batch: readonly Pending<Item>[], error: unknown): Promise<void> {
    const { beforeRetry, splitsAfter } = this.#options;
    if (this.#isAbandoned) {
      for (const { resolve } of batch) resolve();
    } else if (beforeRetry !== undefined) {
      this.#pending.unshift(...batch);
      await beforeRetry(error, batch.length);
    } else if (batch.length > 1 && splitsAfter?.(error) === true) {
      for (const one of batch) await this.#flush([one]);
    } else {
      for (const { reject } of batch) reject(error);
    }
  }
}
