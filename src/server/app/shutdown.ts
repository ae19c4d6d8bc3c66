import { withTimeout } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';

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

/** Work that continues after its response. Closing waits until it has ended. */
type Background = {
  readonly add: (work: Promise<void>) => void;
  readonly settled: () => Promise<void>;
};

export function createBackground(onFailure: (error: unknown) => void): Background {
  const pending = new Set<Promise<void>>();
  return {
    add: (work) => {
      const tracked = work.catch(onFailure).finally(() => pending.delete(tracked));
      pending.add(tracked);
    },
    settled: async () => {
      await Promise.all(pending);
    },
  };
}

/** An error after which a process must end, although no signal asked it to. */
type Failure = {
  readonly report: (error: Error) => void;
  readonly isReported: () => boolean;
  /** Resolves to the first error that was reported. */
  readonly reported: Promise<Error>;
};

export function createFailure(log: Pick<Log, 'error'>): Failure {
  const { promise, resolve } = Promise.withResolvers<Error>();
  let isReported = false;
  return {
    report: (error) => {
      isReported = true;
      log.error({ reason: error.message }, 'stopping, because the database cannot be used any more');
      resolve(error);
    },
    isReported: () => isReported,
    reported: promise,
  };
}

/** Resolves when the signal aborts. Rejects with the failure when that comes first. */
export async function untilEnd(signal: AbortSignal, failed: Promise<Error>): Promise<void> {
  const error = await Promise.race([waitForAbort(signal), failed]);
  if (error !== undefined) throw error;
}

async function waitForAbort(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
