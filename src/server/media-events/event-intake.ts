import type { Clock } from '../platform/clock.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';

export type EventIntakeDeps = {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Resolves when the event is durable. */
  readonly record: (event: MediaEvent) => Promise<void>;
  /** Called for each rejected event. */
  readonly onRefused: () => void;
};

/**
 * Receives the media server's events, and remembers since when some were rejected because they could not be stored. The
 * media server repeats a rejected event for 15 s and then drops it.
 */
export class EventIntake {
  readonly #deps: EventIntakeDeps;
  #refusedSince: number | undefined;
  /** Monotonic milliseconds. */
  #lastRefusedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: EventIntakeDeps) {
    this.#deps = deps;
  }

  /** Since when events have been rejected that no comparison has published yet (Unix milliseconds). */
  get refusedSince(): number | undefined {
    return this.#refusedSince;
  }

  async ingest(event: MediaEvent): Promise<void> {
    try {
      await this.#deps.record(event);
    } catch (error) {
      this.#lastRefusedAt = this.#deps.clock.monotonic();
      this.#refusedSince ??= this.#deps.clock.now();
      this.#deps.onRefused();
      throw error;
    }
  }

  /**
   * Called when a comparison with the media server that began at `startedAt` (monotonic clock) has published the events
   * that were rejected before.
   */
  clearRefusedBefore(startedAt: number): void {
    if (startedAt >= this.#lastRefusedAt) this.#refusedSince = undefined;
  }
}
