import type { Clock } from '../../platform/clock.ts';
import { Batcher } from '../../platform/jobs/batcher.ts';
import type { Log } from '../../platform/log.ts';
import type { Delivery, DeliveryOutcome, DeliveryStore } from '../store.ts';

/** Maximum outcomes that are not stored yet. After a kill at most these deliveries, and those in flight, are sent again. */
export const MAX_UNWRITTEN_OUTCOMES = 500;
const RETRY_PAUSE_MS = 500;
/** Outcomes of 40 ms share a commit, up to half of the maximum, so that the other half can be sent during the commit. */
const GATHER = { ms: 40, size: MAX_UNWRITTEN_OUTCOMES / 2 } as const;

export type OutcomeWriterDeps = {
  readonly deliveries: Pick<DeliveryStore, 'recordOutcomes'>;
  readonly clock: Clock;
  readonly timer?: Pick<Clock, 'sleep'> | undefined;
  readonly log: Log;
  readonly owner: string;
  readonly onWritten: (outcomes: readonly WebhookOutcome[]) => void;
};

export type WebhookOutcome = DeliveryOutcome & Pick<Delivery, 'webhookId' | 'orderingKey'>;

/**
 * Stores outcomes in batches, with one durable commit at a time. Deliveries that end during a commit share the next one. A
 * batch is repeated while the store does not respond. Nothing is dropped before the service closes; other instances then
 * send those deliveries again.
 */
export class OutcomeWriter {
  readonly #deps: OutcomeWriterDeps;
  readonly #batcher: Batcher<WebhookOutcome>;
  readonly #dropping = new AbortController();
  #unwritten = 0;

  constructor(deps: OutcomeWriterDeps) {
    this.#deps = deps;
    this.#batcher = new Batcher({
      maxSize: MAX_UNWRITTEN_OUTCOMES,
      gather: GATHER,
      timer: deps.timer,
      flush: (batch) => this.#write(batch),
    });
  }

  /** Whether no further delivery should start, because after a kill everything that is not stored is sent again. */
  get isFull(): boolean {
    return this.#unwritten >= MAX_UNWRITTEN_OUTCOMES;
  }

  add(outcome: WebhookOutcome): void {
    if (this.#dropping.signal.aborted) return;
    this.#unwritten += 1;
    void this.#batcher.add(outcome);
  }

  /** Stores all outcomes that were added before. When the signal aborts, the rest and all later outcomes are dropped. */
  async close(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.#batcher.close(), aborted]);
    this.#dropping.abort();
  }

  async #write(batch: readonly WebhookOutcome[]): Promise<void> {
    const { deliveries, owner, log, clock, onWritten } = this.#deps;
    const { signal } = this.#dropping;
    while (!signal.aborted) {
      try {
        await deliveries.recordOutcomes(owner, batch);
        this.#unwritten -= batch.length;
        return onWritten(batch);
      } catch (error) {
        const outcomes = batch.length;
        log.error({ err: error, outcomes }, 'storing the outcomes of deliveries failed; trying again');
        await clock.sleep(RETRY_PAUSE_MS, signal).catch(() => {});
      }
    }
  }
}
