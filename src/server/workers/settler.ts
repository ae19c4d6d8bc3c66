import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { DeliveryOutcome, DeliveryStore } from '../ports/webhook-store.ts';

const BATCH = 500;
const RETRY_PAUSE_MS = 500;

export type SettlerDeps = {
  readonly deliveries: Pick<DeliveryStore, 'settle'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly owner: string;
  /** Called when the outcomes have been stored. */
  readonly onSettled: (outcomes: readonly SettledOutcome[]) => void;
};

export type SettledOutcome = DeliveryOutcome & { readonly webhookId: string };

/**
 * Stores outcomes in batches: one durable commit at a time, and whatever ends meanwhile goes with the next. A store
 * that does not answer is tried again; nothing is dropped.
 */
export class Settler {
  readonly #deps: SettlerDeps;
  readonly #pending: SettledOutcome[] = [];
  #running: Promise<void> | undefined;

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
  }

  add(outcome: SettledOutcome): void {
    this.#pending.push(outcome);
    this.#running ??= this.#run();
  }

  /** Resolves when everything added before is stored; gives up when the signal aborts. */
  async flush(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    while (this.#running !== undefined && !signal.aborted) await Promise.race([this.#running, aborted]);
  }

  async #run(): Promise<void> {
    // What ends in the same turn of the event loop shares the commit.
    await new Promise(setImmediate);
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, BATCH);
      await this.#settle(batch);
      this.#deps.onSettled(batch);
    }
    this.#running = undefined;
  }

  async #settle(batch: readonly SettledOutcome[]): Promise<void> {
    const { deliveries, owner, log, clock } = this.#deps;
    for (;;) {
      try {
        await deliveries.settle(owner, batch);
        return;
      } catch (error) {
        log.error({ err: error, outcomes: batch.length }, 'settling deliveries failed; trying again');
        await clock.sleep(RETRY_PAUSE_MS);
      }
    }
  }
}
