import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import { type ListenDeps, type Listening, listenToRoom } from './listen-to-room.ts';
import type { ListenedRecording, TurnStores } from './store.ts';

/*
 * Listens to every room that is recorded, so that a transcription of the recording can name the speakers. Several workers
 * share the recordings by leases:
 *
 *   claim     Takes a running recording without a valid lease: one per round, so that the workers share them.
 *   renew     Extends all leases of the worker long before they expire.
 *   finish    Stores the last turns and releases the lease when the recording has ended.
 *   end       Leaves the room when the recording is gone or another worker has taken over.
 *   release   On close: stores the turns so far, then releases the lease, so that another worker continues.
 */

/** Changes and claims that follow each other closely are handled together. */
const ROUND_PAUSE_MS = 400;
/** Reads the database at least this often, because a change of another process may be missed. */
const POLL_INTERVAL_MS = 30_000;
/** Duration of a lease. Another worker takes over when the lease of a killed worker has expired. */
const LEASE_MS = 4_000;
const RENEW_MS = 1_000;
/** Time after a stop in which the recorder still records for a moment and writes the file. */
const ENDING_MS = 10_000;
const BACKOFF = { firstMs: ROUND_PAUSE_MS, maxMs: 2_000 } as const;
/** Maximum number of rooms. */
const MAX_ROOMS = 50;

export type TurnListenerDeps = Omit<ListenDeps, 'store'> & {
  readonly store: Pick<TurnStores, 'turns'>;
  readonly changes: ChangeFeed;
  /** Lease owner. */
  readonly workerId: string;
  /** Called when the worker has left a room. */
  readonly onRoomLeft: () => void;
};

export type TurnListener = {
  /** Stores the turns so far and releases the leases. */
  readonly close: () => Promise<void>;
};

export function startTurnListener(deps: TurnListenerDeps): TurnListener {
  const worker = new TurnWorker(deps);
  return { close: () => worker.close() };
}

type HeldRecording = {
  readonly listening: Listening;
  readonly lease: { renewedAt: number; isRefused: boolean };
};

class TurnWorker {
  readonly #deps: TurnListenerDeps;
  readonly #held = new Map<string, HeldRecording>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #loop: Loop;
  readonly #unsubscribe: () => void;
  /** Monotonic milliseconds. The leases of the rows have wall-clock times. */
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: TurnListenerDeps) {
    this.#deps = deps;
    const { clock, log, changes } = deps;
    this.#unsubscribe = changes.subscribe('recordings', () => this.#wakeSoon());
    this.#loop = startLoop({
      clock,
      log,
      failureMessage: 'reading the recordings failed; trying again',
      backoff: BACKOFF,
      round: () => this.#round(),
    });
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#loop.close();
    for (const [id, held] of this.#held) this.#finish(id, held);
    await Promise.all(this.#leaving);
  }

  #wakeSoon(): void {
    this.#loop.wakeWithin(ROUND_PAUSE_MS);
  }

  /** Returns the milliseconds until the next lease is due or until the next read. */
  async #round(): Promise<number> {
    const { store, clock } = this.#deps;
    await this.#renew();
    const recordings = await store.turns.listListened(clock.now() - ENDING_MS);
    this.#leave(recordings);
    const others = recordings.filter(({ recordingId }) => !this.#held.has(recordingId));
    const now = clock.now();
    const claimable = others.filter(({ leaseUntil }) => leaseUntil === null || leaseUntil <= now);
    if (this.#held.size < MAX_ROOMS) await this.#claim(claimable);
    return Math.min(
      POLL_INTERVAL_MS,
      ...(this.#held.size === 0 ? [] : [this.#renewedAt + RENEW_MS - clock.monotonic()]),
      ...(claimable.length === 0 ? [] : [ROUND_PAUSE_MS]),
      ...others.flatMap(({ leaseUntil }) => (leaseUntil === null ? [] : Math.max(leaseUntil - now, 1))),
    );
  }

  async #renew(): Promise<void> {
    const { store, clock, workerId } = this.#deps;
    const at = clock.monotonic();
    if (this.#held.size === 0 || at - this.#renewedAt < RENEW_MS) return;
    await store.turns.renewListening(workerId, clock.now() + LEASE_MS);
    this.#renewedAt = at;
    for (const { lease } of this.#held.values()) lease.renewedAt = at;
  }

  /** Leaves the rooms whose recording has ended or that another worker has taken over. */
  #leave(recordings: readonly ListenedRecording[]): void {
    const { workerId } = this.#deps;
    const owners = new Map(recordings.map(({ recordingId, owner }) => [recordingId, owner]));
    for (const [id, held] of this.#held) {
      const owner = owners.get(id);
      if (owner === undefined) this.#finish(id, held);
      else if (owner !== workerId || held.lease.isRefused) this.#end(id, held);
    }
  }

  async #claim([first]: readonly ListenedRecording[]): Promise<void> {
    if (first === undefined) return;
    const { store, clock, workerId: owner } = this.#deps;
    const [now, at] = [clock.now(), clock.monotonic()];
    const { recordingId } = first;
    const claim = { recordingId, owner, now, leaseUntil: now + LEASE_MS };
    if (await store.turns.claimListening(claim)) this.#start(first, at);
  }

  #start(recording: ListenedRecording, at: number): void {
    const { clock, log, workerId: owner } = this.#deps;
    const { recordingId } = recording;
    log.info({ recordingId }, 'listening to a room that is recorded');
    const lease = { renewedAt: at, isRefused: false };
    const listening = listenToRoom(this.#deps, {
      ...{ recording, owner },
      isHeld: () => clock.monotonic() - lease.renewedAt < LEASE_MS,
      onRefused: () => {
        lease.isRefused = true;
        this.#wakeSoon();
      },
    });
    this.#held.set(recordingId, { listening, lease });
  }

  #finish(id: string, { listening }: HeldRecording): void {
    const { store, workerId } = this.#deps;
    this.#endRoom(id, async () => {
      await listening.finish();
      await store.turns.releaseListening(id, workerId);
    });
  }

  #end(id: string, { listening }: HeldRecording): void {
    this.#endRoom(id, () => listening.end());
  }

  #endRoom(recordingId: string, leave: () => Promise<void>): void {
    const { log, onRoomLeft } = this.#deps;
    this.#held.delete(recordingId);
    const left = leave()
      .catch((error: unknown) =>
        log.warn({ recordingId, err: error }, 'leaving a recorded room failed; its lease will expire'),
      )
      .finally(() => {
        this.#leaving.delete(left);
        onRoomLeft();
      });
    this.#leaving.add(left);
  }
}
