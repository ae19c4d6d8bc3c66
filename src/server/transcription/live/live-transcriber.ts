import type { Transcription, TranscriptionStores } from '../store.ts';
import { FairQueue } from './fair-queue.ts';
import { type ListenDeps, type Listening, listenInRoom } from './transcribe-room.ts';

/*
 * The live worker: any number of rooms, each a row that it holds by a lease.
 *
 *   claim     active ones that nobody holds, or whose worker's lease ran out: one a round, so that several workers
 *             share them, and none while recognition here is behind
 *   renew     long before the lease runs out
 *   end       when the row is stopped, deleted, or in other hands: within a round
 *   release   on closing: what was said is stored first, and another worker goes on at once
 */

const ROUND_MS = 400;
/** A killed worker is replaced when this has run out. */
const LEASE_MS = 9_000;
const RENEW_MS = 3_000;
/** Rooms at once: what a machine can hear, its load says sooner. */
const MOST_ROOMS = 50;
/** Finals that wait: with more, recognition is slower than speech here. */
const BEHIND = 20;

export type LiveTranscriberDeps = Omit<ListenDeps, 'queue' | 'store'> & {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  /** Who holds the leases. */
  readonly workerId: string;
  /** Recognitions at once. */
  readonly concurrency: number;
};

export type LiveTranscriber = {
  /** Stores what was said so far and gives back what is in hand. */
  readonly close: () => Promise<void>;
};

export function startLiveTranscriber(deps: LiveTranscriberDeps): LiveTranscriber {
  const worker = new LiveWorker(deps);
  const closing = new AbortController();
  const loop = worker.run(closing.signal);
  return {
    close: async () => {
      closing.abort();
      await loop;
      await worker.close();
    },
  };
}

type Lease = { renewedAt: number; isRefused: boolean };
type Held = { readonly listening: Listening; readonly lease: Lease };

class LiveWorker {
  readonly #deps: LiveTranscriberDeps;
  readonly #queue: FairQueue;
  readonly #held = new Map<string, Held>();
  readonly #ending = new Set<Promise<void>>();

  constructor(deps: LiveTranscriberDeps) {
    this.#deps = deps;
    this.#queue = new FairQueue({ concurrency: deps.concurrency });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    let isFailing = false;
    while (!signal.aborted) {
      try {
        await this.#round();
        isFailing = false;
      } catch (error) {
        if (!isFailing)
          log.error({ err: error }, 'the database cannot be asked for transcriptions; trying again');
        isFailing = true;
      }
      await clock.sleep(ROUND_MS, signal).catch(() => {});
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held].map(([id, held]) => this.#giveBack(id, held)));
    await Promise.all(this.#ending);
  }

  async #round(): Promise<void> {
    const active = await this.#deps.store.transcriptions.listActiveLive();
    const isOurs = new Set(
      active.filter(({ leaseOwner }) => leaseOwner === this.#deps.workerId).map(({ id }) => id),
    );
    for (const [id, held] of this.#held) {
      if (!isOurs.has(id) || held.lease.isRefused) this.#end(id, held);
      else await this.#renew(id, held);
    }
    if (active.some((one) => this.#isClaimable(one))) await this.#claim();
  }

  #isClaimable({ id, leaseUntil, language }: Transcription): boolean {
    const { clock, engine } = this.#deps;
    const isFree = leaseUntil === null || leaseUntil <= clock.now();
    return isFree && !this.#held.has(id) && engine.supports(language);
  }

  async #claim(): Promise<void> {
    if (this.#held.size >= MOST_ROOMS || this.#queue.waiting >= BEHIND) return;
    const { store, clock, engine, workerId: owner } = this.#deps;
    const now = clock.now();
    const claimed = await store.transcriptions.claimLive({
      ...{ owner, now, leaseUntil: now + LEASE_MS, limit: 1 },
      supports: (language) => engine.supports(language),
    });
    for (const transcription of claimed) this.#listen(transcription, now);
  }

  #listen(transcription: Transcription, now: number): void {
    const { engine, log, workerId: owner } = this.#deps;
    const { id, language } = transcription;
    log.info({ transcriptionId: id }, 'transcribing a room');
    engine
      .prepare(language)
      .catch((error: unknown) => log.error({ transcriptionId: id, err: error }, 'a model cannot be loaded'));
    const lease: Lease = { renewedAt: now, isRefused: false };
    const listening = listenInRoom(
      { ...this.#deps, queue: this.#queue },
      {
        transcription,
        owner,
        isHeld: () => this.#deps.clock.now() - lease.renewedAt < LEASE_MS,
        onRefused: () => {
          lease.isRefused = true;
        },
      },
    );
    this.#held.set(id, { listening, lease });
  }

  async #renew(id: string, held: Held): Promise<void> {
    const now = this.#deps.clock.now();
    if (now - held.lease.renewedAt < RENEW_MS) return;
    const isOurs = await this.#deps.store.transcriptions.renew(id, this.#deps.workerId, now + LEASE_MS);
    held.lease.renewedAt = now;
    if (!isOurs) this.#end(id, held);
  }

  #end(id: string, held: Held): void {
    this.#held.delete(id);
    this.#deps.log.info({ transcriptionId: id }, 'the transcription is over here: stopped, or taken over');
    const ended = held.listening
      .end()
      .catch((error: unknown) =>
        this.#deps.log.warn({ transcriptionId: id, err: error }, 'leaving a room failed'),
      )
      .finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  async #giveBack(id: string, held: Held): Promise<void> {
    const { store, log, workerId } = this.#deps;
    try {
      await held.listening.finish();
      await store.transcriptions.release(id, workerId);
    } catch (error) {
      log.warn({ transcriptionId: id, err: error }, 'giving a transcription back failed; its lease runs out');
    }
  }
}
