import type { Transcription, TranscriptionStores } from '../store.ts';
import { FairQueue } from './fair-queue.ts';
import { type RoomTranscriberDeps, type RoomTranscription, startRoomTranscriber } from './transcribe-room.ts';

/*
 * The live worker transcribes any number of rooms. Each is a row that the worker holds by a lease.
 *
 *   claim     Takes an active transcription without a valid lease: one per round, so that several workers share the
 *             rooms, and none while recognition is behind.
 *   renew     Extends the lease long before it expires.
 *   end       Leaves the room when the row is stopped, deleted or taken over.
 *   release   On close: stores everything said so far, then gives up the lease, so that another worker continues.
 */

const POLL_INTERVAL_MS = 400;
/** Another worker takes over when the lease of a killed one has expired. */
const LEASE_MS = 9_000;
const RENEW_MS = 3_000;
/** Maximum number of rooms. Usually the load of the machine sets a lower limit first. */
const MAX_ROOMS = 50;
/** With this many finals waiting, recognition is slower than speech, and the worker claims no further room. */
const MAX_WAITING_FINALS = 20;

export type LiveTranscriberDeps = Omit<RoomTranscriberDeps, 'queue' | 'store'> & {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  /** Lease owner. */
  readonly workerId: string;
  /** Maximum number of recognitions at once. */
  readonly concurrency: number;
};

export type LiveTranscriber = {
  /** Stores everything said so far and releases the leases. */
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
type HeldRoom = { readonly room: RoomTranscription; readonly lease: Lease };

class LiveWorker {
  readonly #deps: LiveTranscriberDeps;
  readonly #queue: FairQueue;
  readonly #rooms = new Map<string, HeldRoom>();
  readonly #leaving = new Set<Promise<void>>();

  constructor(deps: LiveTranscriberDeps) {
    this.#deps = deps;
    this.#queue = new FairQueue({ concurrency: deps.concurrency });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    let isFailing = false;
    while (!signal.aborted) {
      try {
        await this.#poll();
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.error({ err: error }, 'reading the transcriptions failed; trying again');
        isFailing = true;
      }
      await clock.sleep(POLL_INTERVAL_MS, signal).catch(() => {});
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#rooms].map(([id, held]) => this.#release(id, held)));
    await Promise.all(this.#leaving);
  }

  async #poll(): Promise<void> {
    const active = await this.#deps.store.transcriptions.listActiveLive();
    const isOurs = new Set(
      active.filter(({ leaseOwner }) => leaseOwner === this.#deps.workerId).map(({ id }) => id),
    );
    for (const [id, held] of this.#rooms) {
      if (!isOurs.has(id) || held.lease.isRefused) this.#end(id, held);
      else await this.#renew(id, held);
    }
    if (active.some((one) => this.#isClaimable(one))) await this.#claim();
  }

  #isClaimable({ id, leaseUntil, language }: Transcription): boolean {
    const { clock, engine } = this.#deps;
    const isFree = leaseUntil === null || leaseUntil <= clock.now();
    return isFree && !this.#rooms.has(id) && engine.supports(language);
  }

  async #claim(): Promise<void> {
    if (this.#rooms.size >= MAX_ROOMS || this.#queue.waiting >= MAX_WAITING_FINALS) return;
    const { store, clock, engine, workerId: owner } = this.#deps;
    const now = clock.now();
    const claimed = await store.transcriptions.claimLive({
      ...{ owner, now, leaseUntil: now + LEASE_MS, limit: 1 },
      supports: (language) => engine.supports(language),
    });
    for (const transcription of claimed) this.#start(transcription, now);
  }

  #start(transcription: Transcription, now: number): void {
    const { engine, log, workerId: owner } = this.#deps;
    const { id, language } = transcription;
    log.info({ transcriptionId: id }, 'transcribing a room');
    engine
      .prepare(language)
      .catch((error: unknown) => log.error({ transcriptionId: id, err: error }, 'a model cannot be loaded'));
    const lease: Lease = { renewedAt: now, isRefused: false };
    const room = startRoomTranscriber(
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
    this.#rooms.set(id, { room, lease });
  }

  async #renew(id: string, held: HeldRoom): Promise<void> {
    const now = this.#deps.clock.now();
    if (now - held.lease.renewedAt < RENEW_MS) return;
    const isOurs = await this.#deps.store.transcriptions.renew(id, this.#deps.workerId, now + LEASE_MS);
    held.lease.renewedAt = now;
    if (!isOurs) this.#end(id, held);
  }

  #end(id: string, held: HeldRoom): void {
    this.#rooms.delete(id);
    this.#deps.log.info({ transcriptionId: id }, 'the transcription was stopped or taken over');
    const ended = held.room
      .end()
      .catch((error: unknown) =>
        this.#deps.log.warn({ transcriptionId: id, err: error }, 'leaving a room failed'),
      )
      .finally(() => this.#leaving.delete(ended));
    this.#leaving.add(ended);
  }

  async #release(id: string, held: HeldRoom): Promise<void> {
    const { store, log, workerId } = this.#deps;
    try {
      await held.room.finish();
      await store.transcriptions.release(id, workerId);
    } catch (error) {
      log.warn(
        { transcriptionId: id, err: error },
        'releasing a transcription failed; its lease will expire',
      );
    }
  }
}
