import type { Clock } from '../../platform/clock.ts';
import { Batcher } from '../../platform/jobs/batcher.ts';
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
  readonly #batcher: Batcher<DetectedTurn>;

  constructor({ store, clock, log }: TurnWriterDeps, settings: TurnWriterSettings) {
    const { recordingId, owner, onRefused } = settings;
    this.#batcher = new Batcher({
      maxSize: Number.POSITIVE_INFINITY,
      gather: { ms: STORE_AFTER_MS, size: Number.POSITIVE_INFINITY },
      timer: clock,
      flush: async (turns) => {
        if (await store.turns.addTurns(recordingId, owner, turns)) return;
        this.close();
        onRefused();
      },
      beforeRetry: async (error, waiting) => {
        log.warn({ recordingId, waiting, err: error }, 'storing turns failed; trying again');
        await clock.sleep(RETRY_MS);
      },
    });
  }

  add(turn: DetectedTurn): void {
    void this.#batcher.add(turn);
  }

  /** Stores without further pauses. Resolves when every turn is stored or refused. */
  async flush(): Promise<void> {
    await this.#batcher.close();
  }

  /** Drops turns that are not stored yet. */
  close(): void {
    this.#batcher.abandon();
  }
}
