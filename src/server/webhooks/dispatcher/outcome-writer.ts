import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { DeliveryOutcome, DeliveryStore } from '../store.ts';

/** What an instance may have sent and not stored yet when it dies, beside what is in flight. */
export const SETTLING_BATCH = 500;
const RETRY_PAUSE_MS = 500;
/** What ends within it shares a commit, up to half of a batch: the other half may be sent while this one is stored. */
const GATHERING_MS = 40;
const GATHERED = SETTLING_BATCH / 2;

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
 * that does not answer is tried again; nothing is dropped until the end, and then other instances try it anew.
 */
export class Settler {
  readonly #deps: SettlerDeps;
  readonly #pending: SettledOutcome[] = [];
  readonly #givenUp = new AbortController();
  #running: Promise<void> | undefined;
  #unsettled = 0;
  #gathering = new AbortController();
  #isHurried = false;

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
  }

  /** Whether so much is not stored yet that nothing more should be begun: a kill would repeat all of it. */
  get isFull(): boolean {
    return this.#unsettled >= SETTLING_BATCH;
  }

  add(outcome: SettledOutcome): void {
    if (this.#givenUp.signal.aborted) return;
    this.#pending.push(outcome);
    this.#unsettled += 1;
    if (this.#pending.length === GATHERED) this.#gathering.abort();
    this.#running ??= this.#run();
  }

  /** Stores everything added before; what is not stored when the signal aborts is given up, as is all that comes later. */
  async close(signal: AbortSignal): Promise<void> {
    this.#isHurried = true;
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
      // A commit costs as much for one as for many, and nobody waits for this one: true time, not the service's.
      if (this.#pending.length < GATHERED && !this.#isHurried) await this.#gather();
      const batch = this.#pending.splice(0, SETTLING_BATCH);
      const isSettled = await this.#settle(batch);
      this.#unsettled -= batch.length;
      if (isSettled) this.#deps.onSettled(batch);
    }
    this.#running = undefined;
  }

  async #gather(): Promise<void> {
    this.#gathering = new AbortController();
    await delay(GATHERING_MS, undefined, { signal: this.#gathering.signal }).catch(() => {});
  }

  /** False when it was given up. */
  async #settle(batch: readonly SettledOutcome[]): Promise<boolean> {
    const { deliveries, owner, log, clock } = this.#deps;
    const { signal } = this.#givenUp;
    while (!signal.aborted) {
      try {
        await deliveries.settle(owner, batch);
        return true;
      } catch (error) {
        log.error({ err: error, outcomes: batch.length }, 'settling deliveries failed; trying again');
        await clock.sleep(RETRY_PAUSE_MS, signal).catch(() => {});
      }
    }
    return false;
  }
}
