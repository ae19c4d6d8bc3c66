import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { DetectedTurn, TurnStores } from './store.ts';

export type TurnWriterDeps = {
  readonly store: { readonly turns: Pick<TurnStores['turns'], 'addTurns'> };
  readonly clock: Clock;
  readonly log: Log;
};

export type TurnWriterSettings = {
  readonly recordingId: string;
  readonly owner: string;
  /** Called when the store refuses turns: the recording was deleted or taken over by another worker. */
  readonly onRefused: () => void;
};

/** Turns that end within this time are stored together. */
const STORE_AFTER_MS = 1_000;
const RETRY_MS = 500;

/** Stores turns. While the database is unavailable they wait in memory. */
export class TurnWriter {
  readonly #deps: TurnWriterDeps;
  readonly #settings: TurnWriterSettings;
  #unstored: DetectedTurn[] = [];
  #storing: Promise<void> | undefined;
  /** Aborts the pause before the next turns are stored. */
  readonly #flushing = new AbortController();
  #isClosed = false;

  constructor(deps: TurnWriterDeps, settings: TurnWriterSettings) {
    this.#deps = deps;
    this.#settings = settings;
  }

  add(turn: DetectedTurn): void {
    if (this.#isClosed) return;
    this.#unstored.push(turn);
    this.#storing ??= this.#store();
  }

  /** Stores without further pauses. Resolves when every turn is stored or refused. */
  async flush(): Promise<void> {
    this.#flushing.abort();
    await this.#storing;
  }

  /** Drops turns that are not stored yet. */
  close(): void {
    this.#isClosed = true;
    this.#unstored = [];
    this.#flushing.abort();
  }

  async #store(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { recordingId, owner, onRefused } = this.#settings;
    while (this.#unstored.length > 0) {
      await clock.sleep(STORE_AFTER_MS, this.#flushing.signal).catch(() => {});
      const turns = [...this.#unstored];
      try {
        const isStored = turns.length === 0 || (await store.turns.addTurns(recordingId, owner, turns));
        this.#unstored = this.#unstored.slice(turns.length);
        if (isStored) continue;
        this.close();
        onRefused();
      } catch (error) {
        log.warn({ recordingId, waiting: turns.length, err: error }, 'storing turns failed; trying again');
        await clock.sleep(RETRY_MS);
      }
    }
    // This must run in the same tick as the last check of the loop, so that a later `add` starts a new round.
    this.#storing = undefined;
  }
}
