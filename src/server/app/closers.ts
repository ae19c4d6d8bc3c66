import type { Log } from '../platform/log.ts';
import { withTimeout } from '../platform/with-timeout.ts';

/** Time for closing everything. */
const CLOSE_TIMEOUT_MS = 9_000;
/** Time for each remaining closer after CLOSE_TIMEOUT_MS. */
const LATE_CLOSE_TIMEOUT_MS = 100;

/** Closes resources in the reverse order of their opening. */
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

  /** Calls every closer, even if others fail or hang. The store closes last. A second call returns the first one's promise. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const deadline = performance.now() + CLOSE_TIMEOUT_MS;
    for (const close of this.#closers.toReversed()) {
      const closed = close().catch((error: unknown) => this.#log.error({ err: error }, 'closing failed'));
      const timeoutMs = Math.max(LATE_CLOSE_TIMEOUT_MS, deadline - performance.now());
      const isClosed = closed.then(() => true);
      if (await withTimeout(isClosed, timeoutMs, false)) continue;
      this.#log.warn({ afterMs: CLOSE_TIMEOUT_MS }, 'closing took too long; unfinished work is cut off');
    }
  }
}
