import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../platform/clock.ts';
import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import type { Log } from '../../platform/log.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import { withVocabulary } from '../engines/recognise-speech.ts';
import type { Transcription, TranscriptionStores } from '../store.ts';
import type { VocabularyStores } from '../vocabulary/vocabularies.sql.ts';
import { FairQueue } from './fair-queue.ts';
import { type RoomTranscriberDeps, type RoomTranscription, startRoomTranscriber } from './transcribe-room.ts';

/*
 * The live worker transcribes any number of rooms. Each is a row that the worker holds by a lease.
 *
 *   claim     Takes an active transcription without a lease: one per round, so that several workers share the rooms,
 *             and none while recognition is behind.
 *   renew     Extends all leases of the worker long before they expire.
 *   expire    Releases the transcriptions of a worker whose lease has expired, so that they can be claimed. A transcription
 *             that has ended several workers fails instead.
 *   end       Leaves the room when the row is stopped, deleted or taken over. A worker that sees that its row was taken
 *             over has not died, and corrects the count of losses.
 *   release   On close: stores everything said so far, then gives up the lease, so that another worker continues.
 *
 * A round follows each change of the transcriptions in the database, and each time at which a lease is due.
 */

/** Changes and claims that follow each other closely are handled together. */
const ROUND_PAUSE_MS = 400;

/** Pause between two claims of transcriptions that have lost their worker. It is short, because speech is being lost. */
const TAKEOVER_PAUSE_MS = 100;

/** Reads the database at least this often, because a change of another process may be missed. */
const POLL_INTERVAL_MS = 30_000;

/**
 * Duration of a lease. Another worker takes over when the lease of a killed worker has expired. A takeover loses the speech
 * of this time and of less than a second for joining the room.
 */
const LIVE_LEASE_MS = 2_000;

const RENEW_MS = 500;

/** A round that starts or reads this late shows that the machine or the database was slow, for other workers too. */
const HELD_UP_MS = 500;

const BACKOFF = { firstMs: ROUND_PAUSE_MS, maxMs: 2_000 } as const;

/** Maximum number of rooms. Usually the load of the machine sets a lower limit first. */
const MAX_ROOMS = 50;

/** With this many finals waiting, recognition is slower than speech, and the worker claims no further room. */
const MAX_WAITING_FINALS = 20;

/** A worker that has held a transcription for longer is assumed to survive it. */
const SURVIVED_MS = 60_000;

/** A worker holds only one transcription with this many losses at a time, until it has survived it. */
const SUSPECT_LOSSES = 2;

type LiveTranscriberDeps = Omit<RoomTranscriberDeps, 'queue' | 'store'> & {
  readonly changes: ChangeFeed;
  readonly store: Pick<TranscriptionStores, 'transcriptions'> & VocabularyStores;
  /** Ends the transcriptions that have ended too many workers as failed. Returns the others. */
  readonly failLost: (transcriptions: readonly Transcription[]) => Promise<readonly Transcription[]>;
  /** Called when the worker has left a room. */
  readonly onRoomLeft: () => void;
  /** Called when a transcription is continued whose worker died. */
  readonly onTakeover?: (() => void) | undefined;
  /** Lease owner. */
  readonly workerId: string;
  /** Maximum number of recognitions at once. */
  readonly concurrency: number;
};

export type LiveTranscriber = {
  /** Looks for transcriptions to claim at once, because the engine has a new language. */
  readonly wake: () => void;
  /** Returns the seconds of speech that wait for recognition. */
  readonly waitingSeconds: () => number;
  /** Stores everything said so far and releases the leases. */
  readonly close: () => Promise<void>;
};

export function startLiveTranscriber(deps: LiveTranscriberDeps): LiveTranscriber {
  const worker = new LiveWorker(deps);
  return {
    wake: () => worker.wakeSoon(),
    waitingSeconds: () => worker.waitingSeconds,
    close: () => worker.close(),
  };
}

/** A lease in memory. Its times are of the monotonic clock, while the rows have wall-clock times. */
type Lease = { renewedAt: number; isRefused: boolean; losses: number };

type HeldRoom = { readonly room: RoomTranscription; readonly lease: Lease; readonly claimedAt: number };

type Expiry = {
  /** Milliseconds until the next lease of another worker expires. */
  readonly nextExpiry: number | undefined;
  readonly hasExpired: boolean;
};

class LiveWorker {
  readonly #deps: LiveTranscriberDeps;
  readonly #queue: FairQueue;
  readonly #rooms = new Map<string, HeldRoom>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #loop: Loop;
  readonly #unsubscribe: () => void;
  #isInterrupted = false;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #dueAt = Number.POSITIVE_INFINITY;
  /**
   * No lease is expired before this time: after an interruption of this worker, others probably had one too and get time to
   * renew their leases.
   */
  #expiresNothingUntil = Number.NEGATIVE_INFINITY;

  constructor(deps: LiveTranscriberDeps) {
    this.#deps = deps;
    this.#queue = new FairQueue({ concurrency: deps.concurrency });
    const { clock, log, changes } = deps;
    this.#unsubscribe = changes.subscribe('transcriptions', () => this.wakeSoon());
    this.#loop = startLoop({
      clock,
      log,
      failureMessage: 'reading the transcriptions failed; trying again',
      backoff: BACKOFF,
      round: () => this.#round(),
    });
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#loop.close();
    await Promise.all([...this.#rooms].map(([id, held]) => this.#release(id, held)));
    await Promise.all(this.#leaving);
  }

  get waitingSeconds(): number {
    return this.#queue.waitingSeconds;
  }

  wakeSoon(): void {
    this.#loop.wakeWithin(ROUND_PAUSE_MS);
  }

  async #round(): Promise<number | undefined> {
    const { clock } = this.#deps;
    const startedAt = clock.monotonic();
    const wasInterrupted = this.#isInterrupted || startedAt - this.#dueAt > HELD_UP_MS;
    this.#isInterrupted = true;
    await this.#renew(startedAt);
    const active = await this.#readActive();
    const isHeldUp = wasInterrupted || clock.monotonic() - startedAt > HELD_UP_MS;
    if (isHeldUp) this.#expiresNothingUntil = clock.monotonic() + LIVE_LEASE_MS;
    const { nextExpiry, hasExpired } = await this.#expire(active);
    const nextClaim = await this.#claim(hasExpired ? await this.#readActive() : active);
    this.#isInterrupted = false;
    const at = clock.monotonic();
    const nextRenewal = this.#rooms.size === 0 ? undefined : this.#renewedAt + RENEW_MS - at;
    const pauseMs = earliest([nextExpiry, nextClaim, nextRenewal, POLL_INTERVAL_MS]) ?? POLL_INTERVAL_MS;
    this.#dueAt = at + pauseMs;
    return pauseMs;
  }

  /** Reads the active transcriptions, and leaves the rooms that this worker no longer holds. */
  async #readActive(): Promise<readonly Transcription[]> {
    const { store, workerId } = this.#deps;
    const active = await store.transcriptions.listActiveLive();
    const isOurs = new Set(active.filter(({ leaseOwner }) => leaseOwner === workerId).map(({ id }) => id));
    for (const [id, held] of this.#rooms) {
      if (isOurs.has(id) && !held.lease.isRefused) continue;
      this.#end(id, held);
      if (!isOurs.has(id)) await store.transcriptions.subtractLoss(id);
    }
    return active;
  }

  async #renew(at: number): Promise<void> {
    if (this.#rooms.size === 0 || at - this.#renewedAt < RENEW_MS) return;
    const { store, clock, workerId } = this.#deps;
    await store.transcriptions.renewLive(workerId, clock.now() + LIVE_LEASE_MS);
    this.#renewedAt = at;
    for (const [id, { lease, claimedAt }] of this.#rooms) {
      lease.renewedAt = at;
      if (lease.losses === 0 || at - claimedAt < SURVIVED_MS) continue;
      await store.transcriptions.resetLosses(id, workerId);
      lease.losses = 0;
    }
  }

  async #expire(active: readonly Transcription[]): Promise<Expiry> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    const leases = active
      .filter(({ id }) => !this.#rooms.has(id))
      .flatMap(({ leaseUntil }) => leaseUntil ?? []);
    const expiry = earliest(leases);
    if (expiry === undefined) return { nextExpiry: undefined, hasExpired: false };
    const waitMs = Math.max(expiry - now, this.#expiresNothingUntil - clock.monotonic());
    if (waitMs > 0) return { nextExpiry: waitMs, hasExpired: false };
    await store.transcriptions.expireLive(now);
    return { nextExpiry: TAKEOVER_PAUSE_MS, hasExpired: true };
  }

  /** Claims a transcription. Returns the milliseconds until another one can be claimed, or until the next read. */
  async #claim(active: readonly Transcription[]): Promise<number | undefined> {
    const { store, clock, engine, failLost, workerId: owner } = this.#deps;
    const free = await failLost(active.filter(({ leaseUntil }) => leaseUntil === null));
    const claimable = free.filter(({ language }) => engine.supports(language));
    if (claimable.length === 0) return undefined;
    const now = clock.now();
    const at = clock.monotonic();
    if (this.#rooms.size >= MAX_ROOMS || this.#queue.waiting >= MAX_WAITING_FINALS) return ROUND_PAUSE_MS;
    const claimed = await store.transcriptions.claimLive({
      owner,
      now,
      leaseUntil: now + LIVE_LEASE_MS,
      limit: 1,
      supports: (language) => engine.supports(language),
      ...(this.#holdsSuspect() ? { attemptsBelow: SUSPECT_LOSSES } : {}),
    });
    for (const transcription of claimed) this.#start(transcription, at);
    if (claimable.length <= claimed.length) return undefined;
    return claimable.some(({ attempts }) => attempts > 0) ? TAKEOVER_PAUSE_MS : ROUND_PAUSE_MS;
  }

  #holdsSuspect(): boolean {
    return [...this.#rooms.values()].some(({ lease }) => lease.losses >= SUSPECT_LOSSES);
  }

  #start(transcription: Transcription, at: number): void {
    const { engine, log, workerId: owner } = this.#deps;
    const { id, language, attempts } = transcription;
    log.info({ transcriptionId: id }, 'transcribing a room');
    engine
      .prepare(language)
      .catch((error: unknown) => log.error({ transcriptionId: id, err: error }, 'a model cannot be loaded'));
    if (attempts > 0) this.#deps.onTakeover?.();
    const lease: Lease = { renewedAt: at, isRefused: false, losses: attempts };
    const room = startRoomTranscriber(
      { ...this.#deps, engine: withVocabulary(this.#deps, transcription.room), queue: this.#queue },
      {
        transcription,
        owner,
        isHeld: () => this.#deps.clock.monotonic() - lease.renewedAt < LIVE_LEASE_MS,
        onRefused: () => {
          lease.isRefused = true;
          this.wakeSoon();
        },
      },
    );
    this.#rooms.set(id, { room, lease, claimedAt: at });
  }

  #end(id: string, held: HeldRoom): void {
    this.#rooms.delete(id);
    this.#deps.log.info({ transcriptionId: id }, 'the transcription was stopped or taken over');
    const ended = held.room
      .end()
      .catch((error: unknown) =>
        this.#deps.log.warn({ transcriptionId: id, err: error }, 'leaving a room failed'),
      )
      .finally(() => {
        this.#leaving.delete(ended);
        this.#deps.onRoomLeft();
      });
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

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Calls that end within this time share one garbage collection. */
const GATHER_MS = 2_000;

type MemoryRelease = {
  /** Collects garbage soon. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
};

/**
 * Collects garbage after calls. The streams of a call are small objects that hold megabytes of native memory, of which
 * V8 knows nothing: it would not collect them for hours, and their native libraries free them no other way.
 */
export function startMemoryRelease(deps: { readonly clock: Clock; readonly log: Log }): MemoryRelease {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  const loop = startLoop({
    ...deps,
    failureMessage: 'collecting garbage failed',
    round: async () => {
      if (typeof collect === 'function') collect();
      return undefined;
    },
  });
  return { release: () => loop.wakeWithin(GATHER_MS), close: loop.close };
}
