import type { Log } from './ports/log.ts';

const CLOSE_PATIENCE_MS = 9_000;

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

  /** One that fails or hangs does not keep the others open for ever; a second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= Promise.race([this.#closeAll(), this.#giveUp()]);
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (const close of this.#closers.toReversed()) {
      await close().catch((error: unknown) => this.#log.error({ err: error }, 'closing failed'));
    }
  }

  #giveUp(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#log.warn(
          { afterMs: CLOSE_PATIENCE_MS },
          'closing took too long; what was under way is cut off',
        );
        resolve();
      }, CLOSE_PATIENCE_MS);
      timer.unref();
    });
  }
}
