import type { Log } from '../platform/log.ts';

/** For all that is closed; and for each that is left when that is over. */
const CLOSE_PATIENCE_MS = 9_000;
const LAST_PATIENCE_MS = 100;

/** What was opened, closed in reverse order: last opened, first closed. */
export class Closers {
  readonly #log: Log;
  readonly #closers: (() => Promise<void>)[] = [];
  #closing: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** One that fails or hangs does not keep the others open: the store is the last. A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const deadline = performance.now() + CLOSE_PATIENCE_MS;
    for (const close of this.#closers.toReversed()) {
      const closed = close().catch((error: unknown) => this.#log.error({ err: error }, 'closing failed'));
      if (await isDoneWithin(closed, Math.max(LAST_PATIENCE_MS, deadline - performance.now()))) continue;
      this.#log.warn({ afterMs: CLOSE_PATIENCE_MS }, 'closing took too long; what was under way is cut off');
    }
  }
}

/** Whether `work` settles well in time. */
export async function isDoneWithin(work: Promise<unknown>, patienceMs: number): Promise<boolean> {
  const { promise: timeUp, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), patienceMs);
  const isDone = await Promise.race([work.then(() => true), timeUp]);
  clearTimeout(timer);
  return isDone;
}
