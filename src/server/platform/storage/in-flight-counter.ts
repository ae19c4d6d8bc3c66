import { ServiceError } from '../../../contract/errors.ts';

/** Counts running calls, so that closing can wait for them and reject new ones. */
export class InFlightCounter {
  #count = 0;
  #closing = false;
  readonly #drained = Promise.withResolvers<void>();

  /** @throws ServiceError storage-unavailable, retryable, once closing has begun. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closing) {
      throw new ServiceError('storage-unavailable', 'The service is shutting down; try again.', {
        retryable: true,
      });
    }
    this.#count += 1;
    try {
      return await call();
    } finally {
      this.#count -= 1;
      this.#resolveWhenDrained();
    }
  }

  /** Rejects new calls, and resolves when the running ones have ended. */
  close(): Promise<void> {
    this.#closing = true;
    this.#resolveWhenDrained();
    return this.#drained.promise;
  }

  #resolveWhenDrained(): void {
    if (this.#closing && this.#count === 0) this.#drained.resolve();
  }
}
