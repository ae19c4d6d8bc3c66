import { ServiceError } from '../../contract/errors.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';

/** In a flood a durable commit costs more than the events in it; what is taken in ordinary times never comes near. */
export const MAX_BATCH = 250;

type Waiting = {
  readonly event: MediaEvent;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Events that arrive while a commit is under way share the next one: each is acknowledged when it is durable. When
 * a batch fails, each of its events is tried alone, so that one of them cannot hold up the others for ever; but not
 * when the store is not there: then each would wait as long for nothing, and the media server sends them all again.
 */
export class EventBatcher {
  readonly #store: (events: readonly MediaEvent[]) => Promise<void>;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(store: (events: readonly MediaEvent[]) => Promise<void>) {
    this.#store = store;
  }

  /** Resolves when the event is stored; rejects when it is not. */
  add(event: MediaEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) await this.#storeBatch(this.#waiting.splice(0, MAX_BATCH));
    this.#isRunning = false;
  }

  async #storeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#store(batch.map(({ event }) => event));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length === 1 || isStoreAway(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await this.#storeBatch([one]);
    }
  }
}

function isStoreAway(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'storage-unavailable';
}
