import type { Clock } from '../../platform/clock.ts';
import { Batcher } from '../../platform/jobs/batcher.ts';
import type { Log } from '../../platform/log.ts';
import type { DeliveryOutcome, DeliveryStore } from '../store.ts';

/** Maximum outcomes per commit. A killed instance repeats these at most, and what was in flight. */
export const MAX_UNWRITTEN_OUTCOMES = 500;
const RETRY_PAUSE_MS = 500;
/** Outcomes of this long share a commit, up to half a batch: the other half may be sent while this one is stored. */
const GATHER = { ms: 40, size: MAX_UNWRITTEN_OUTCOMES / 2 } as const;

export type OutcomeWriterDeps = {
  readonly deliveries: Pick<DeliveryStore, 'recordOutcomes'>;
  readonly clock: Clock;
  readonly timer?: Pick<Clock, 'sleep'> | undefined;
  readonly log: Log;
  readonly owner: string;
  readonly onWritten: (outcomes: readonly WebhookOutcome[]) => void;
};

export type WebhookOutcome = DeliveryOutcome & { readonly webhookId: string };

/**
 * Stores outcomes in batches: one durable commit at a time, and what ends meanwhile goes into the next. When the store
 * does not respond the batch is tried again. Nothing is dropped before the service closes; other instances then try
 * those deliveries again.
 */
export class OutcomeWriter {
  readonly #deps: OutcomeWriterDeps;
  readonly #batcher: Batcher<WebhookOutcome>;
  readonly #givenUp = new AbortController();
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

  /** Whether no further delivery should start, because a kill would repeat everything that is not stored. */
  get isFull(): boolean {
    return this.#unwritten >= MAX_UNWRITTEN_OUTCOMES;
  }

  add(outcome: WebhookOutcome): void {
    if (this.#givenUp.signal.aborted) return;
    this.#unwritten += 1;
    void this.#batcher.add(outcome);
  }

  /** Stores everything that was added before. When the signal aborts, the rest and all later outcomes are dropped. */
  async close(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.#batcher.close(), aborted]);
    this.#givenUp.abort();
  }

  async #write(batch: readonly WebhookOutcome[]): Promise<void> {
    const { deliveries, owner, log, clock, onWritten } = this.#deps;
    const { signal } = this.#givenUp;
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
