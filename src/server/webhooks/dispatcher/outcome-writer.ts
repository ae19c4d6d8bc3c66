import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { DeliveryOutcome, DeliveryStore } from '../store.ts';

/** Maximum outcomes per commit. A killed instance repeats these at most, and what was in flight. */
export const MAX_UNWRITTEN_OUTCOMES = 500;
const RETRY_PAUSE_MS = 500;
/** Outcomes of this long share a commit, up to half a batch: the other half may be sent while this one is stored. */
const GATHER_MS = 40;
const GATHERED_OUTCOMES = MAX_UNWRITTEN_OUTCOMES / 2;

export type OutcomeWriterDeps = {
  readonly deliveries: Pick<DeliveryStore, 'recordOutcomes'>;
  readonly clock: Clock;
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
  readonly #pending: WebhookOutcome[] = [];
  readonly #givenUp = new AbortController();
  #running: Promise<void> | undefined;
  #unwritten = 0;
  #gathering = new AbortController();
  #isClosing = false;

  constructor(deps: OutcomeWriterDeps) {
    this.#deps = deps;
  }

  /** Whether no further delivery should start, because a kill would repeat everything that is not stored. */
  get isFull(): boolean {
    return this.#unwritten >= MAX_UNWRITTEN_OUTCOMES;
  }

  add(outcome: WebhookOutcome): void {
    if (this.#givenUp.signal.aborted) return;
    this.#pending.push(outcome);
    this.#unwritten += 1;
    if (this.#pending.length === GATHERED_OUTCOMES) this.#gathering.abort();
    this.#running ??= this.#run();
  }

  /** Stores everything that was added before. When the signal aborts, the rest and all later outcomes are dropped. */
  async close(signal: AbortSignal): Promise<void> {
    this.#isClosing = true;
    const giveUp = () => this.#givenUp.abort();
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    const aborted = new Promise<void>((resolve) => {
      this.#givenUp.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    while (this.#running !== undefined && !signal.aborted) await Promise.race([this.#running, aborted]);
    giveUp();
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0) {
      // A commit costs as much for one outcome as for many, and nobody waits for it. Real time, not the service's
      // clock: a test that stops the clock must not stop the writer.
      if (this.#pending.length < GATHERED_OUTCOMES && !this.#isClosing) await this.#gather();
      const batch = this.#pending.splice(0, MAX_UNWRITTEN_OUTCOMES);
      const isWritten = await this.#write(batch);
      this.#unwritten -= batch.length;
      if (isWritten) this.#deps.onWritten(batch);
    }
    this.#running = undefined;
  }

  async #gather(): Promise<void> {
    this.#gathering = new AbortController();
    await delay(GATHER_MS, undefined, { signal: this.#gathering.signal }).catch(() => {});
  }

  /** Returns false when the batch was given up. */
  async #write(batch: readonly WebhookOutcome[]): Promise<boolean> {
    const { deliveries, owner, log, clock } = this.#deps;
    const { signal } = this.#givenUp;
    while (!signal.aborted) {
      try {
        await deliveries.recordOutcomes(owner, batch);
        return true;
      } catch (error) {
        log.error(
          { err: error, outcomes: batch.length },
          'storing the outcomes of deliveries failed; trying again',
        );
        await clock.sleep(RETRY_PAUSE_MS, signal).catch(() => {});
      }
    }
    return false;
  }
}
