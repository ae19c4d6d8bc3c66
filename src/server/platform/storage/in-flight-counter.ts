import { ServiceError } from '../../../contract/errors.ts';

/** Counts the work under way, so that closing can wait for it and refuse more. */
export class OpenWork {
  #count = 0;
  #closing = false;
  readonly #drained = Promise.withResolvers<void>();

  /** @throws ServiceError storage-unavailable, retryable, once closing has begun. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing) {
      throw new ServiceError('storage-unavailable', 'The service is shutting down; try again.', {
        retryable: true,
      });
    }
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
      this.#settle();
    }
  }

  /** Resolves when all that has begun has ended. */
  close(): Promise<void> {
    this.#closing = true;
    this.#settle();
    return this.#drained.promise;
  }

  #settle(): void {
    if (this.#closing && this.#count === 0) this.#drained.resolve();
  }
}
