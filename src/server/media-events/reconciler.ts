import { type ErrorCode, hasCode, ServiceError } from '../../contract/errors.ts';
import { EVENT_ARRIVAL_MS } from '../events/event-times.ts';
import { sweepPlannedRooms } from '../plans/keep-times.ts';
import type { Clock } from '../platform/clock.ts';
import { keepLease } from '../platform/jobs/keep-lease.ts';
import { startLoop } from '../platform/jobs/loop.ts';
import { type MediaServer, NO_ROOM } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import {
  type AbandonedStartDeps,
  endAbandonedStarts,
  stopLateStarts,
} from '../recordings/abandoned-starts.ts';
import type { RefreshDeps } from '../recordings/egress-state.ts';
import {
  publishMissedEnds,
  type RecorderWatch,
  reconcileRecordings,
} from '../recordings/reconcile-recordings.ts';
import { sweepBlocks } from '../rooms/blocks/blocks.ts';
import { sweepClosedRooms } from '../rooms/room-records.ts';
import { reconcileTranscriptions } from '../transcription/stop-transcription.ts';
import { MissingSince } from './missing-since.ts';
import { OrphanedRooms } from './orphaned-rooms.ts';
import { type Extent, type ReconcileDeps, reconcileRooms } from './reconcile-rooms.ts';
import type { ComparisonNumbers, ComparisonStore, MediaEventStores } from './stores.ts';

/*
 * Compares with the media server, to find what its events did not report. One instance does it at a time: it holds a lease,
 * which it renews during a round, which is longer than the pause between two rounds, and which it releases when it closes.
 *
 * The lease only saves work: every change locks its room or its row, and every event has a source id that identifies what
 * happened. Therefore the round that follows a time without events (before the start, or while events were refused) does
 * not wait for a lease that another instance holds, or held when it was killed. It has a short lease of its own: see
 * FullComparison.
 */

const EVERY_MS = 30_000;

/** Pause between the end of a long round and the next one. */
const PAUSE_MS = 10_000;

/** Longer than EVERY_MS and, as it is renewed after every third of it, than a pause after a long round. */
const LEASE_MS = 45_000;

const LEASE = 'reconcile';

/** Pauses of retries while a media server or a database does not respond. */
const BACKOFF = { firstMs: 1_000, maxMs: 5_000 };

type Deps = Omit<ReconcileDeps, 'missingSince' | 'orphans'> &
  RefreshDeps &
  AbandonedStartDeps & {
    /** Called when the lease was taken over from an instance that had not released it. */
    readonly onTakeover?: (() => void) | undefined;
    readonly recorderWatch?: Pick<RecorderWatch, 'note'> | undefined;
  };

export type ReconcilerDeps = Deps & {
  /** Called when a round has compared everything with the media server. `startedAt` is its start by the monotonic clock. */
  readonly onCompared?: (startedAt: number) => void;
};

export type Reconciler = {
  /** Compares everything as soon as the media server and the database respond, because events were refused. */
  readonly compareAll: () => void;
  readonly close: () => Promise<void>;
};

type RoundDeps = ReconcilerDeps &
  Pick<ReconcileDeps, 'missingSince' | 'orphans'> & { readonly idleTime: IdleTime };

export function startReconciler(deps: ReconcilerDeps): Reconciler {
  const { clock, log, store, instanceId } = deps;
  const roundDeps: RoundDeps = {
    ...deps,
    missingSince: new MissingSince(),
    orphans: new OrphanedRooms(),
    idleTime: new IdleTime(),
  };
  const fullComparison = new FullComparison(deps);
  let isMediaServerAway = false;
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'comparing with the media server failed; trying again',
    backoff: BACKOFF,
    round: async (signal) => {
      // While the media server does not respond, or refuses us, the database is not used.
      if (isMediaServerAway) await abortableMediaServer(deps.mediaServer, signal).listRooms([NO_ROOM]);
      isMediaServerAway = false;
      const startedAt = clock.monotonic();
      try {
        if (fullComparison.isNeeded) await compareEverything(roundDeps, fullComparison, signal);
        else await runRound(roundDeps, signal);
      } catch (error) {
        isMediaServerAway = hasCode(error, 'media-server-unavailable', 'media-server-error');
        // It may accept another instance, where our clock is wrong.
        if (isMediaServerAway) await store.leases.release({ name: LEASE, owner: instanceId });
        throw error;
      }
      if (fullComparison.isNeeded) return POLL_INTERVAL_MS;
      // From the end of this round on, so that the next one counts everything that it has noted.
      if (roundDeps.missingSince.rooms.size > 0) return EVENT_ARRIVAL_MS;
      return Math.max(EVERY_MS - (clock.monotonic() - startedAt), PAUSE_MS);
    },
  });
  return {
    compareAll: () => {
      fullComparison.need('refused-events');
      loop.wakeWithin(BACKOFF.firstMs);
    },
    close: async () => {
      await loop.close();
      await store.leases.release({ name: LEASE, owner: instanceId });
    },
  };
}

type Round = { readonly extent: Extent; readonly signal: AbortSignal };

async function compareEverything(
  deps: RoundDeps,
  fullComparison: FullComparison,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, store } = deps;
  const hasRun = await fullComparison.run(signal, async (signal) => {
    const take = () => store.leases.take(createLease(deps)).then(() => true);
    // The instance that compared everything does the next rounds too, because it knows which rooms must be compared again.
    await take();
    deps.missingSince.countAtOnce();
    await keepLease({ clock, log, leaseMs: LEASE_MS, renew: take, signal }, (signal) =>
      runSteps(deps, { extent: 'all', signal }),
    );
  });
  if (!hasRun) deps.missingSince.forget();
}

async function runRound(deps: RoundDeps, signal: AbortSignal): Promise<void> {
  const { clock, log, store, missingSince, onTakeover } = deps;
  const mediaServer = abortableMediaServer(deps.mediaServer, signal);
  // No step would find anything. An idle instance then takes no lease and writes nothing.
  if (await deps.idleTime.isLongEnough({ ...deps, mediaServer })) return;
  let isOwner = false;
  const renew = async (): Promise<boolean> => {
    isOwner = await store.leases.acquire({ ...createLease(deps), onTakeover }, clock.now());
    return isOwner;
  };
  try {
    if (!(await renew())) return missingSince.forget();
    await keepLease({ clock, log, leaseMs: LEASE_MS, renew, signal }, (signal) =>
      runSteps(deps, { extent: 'differing', signal }),
    );
  } catch (error) {
    if (isOwner) throw error;
    // Another instance has taken over, such as one that has just started.
    missingSince.forget();
  }
}

function createLease({ clock, instanceId }: RoundDeps) {
  return { name: LEASE, owner: instanceId, until: clock.now() + LEASE_MS };
}

type Step = (deps: RoundDeps, round: Round) => Promise<unknown>;

const STEPS: readonly Step[] = [
  publishMissedEnds,
  compareRooms,
  sweepBlocks,
  (deps, { signal }) => sweepClosedRooms(deps, signal),
  sweepPlannedRooms,
  reconcileTranscriptions,
  reconcileRecordings,
  endAbandonedStarts,
  stopLateStarts,
];

/**
 * An error of one step does not prevent the others, unless they would fail alike. When everything must be compared, the
 * comparison of rooms must succeed: later rounds do all the other steps completely, but not that one.
 */
async function runSteps(deps: RoundDeps, round: Round): Promise<void> {
  const mediaServer = abortableMediaServer(deps.mediaServer, round.signal);
  const errors = new Map<Step, unknown>();
  for (const step of STEPS) {
    round.signal.throwIfAborted();
    try {
      await step({ ...deps, mediaServer }, round);
    } catch (error) {
      if (error instanceof ServiceError && UNAVAILABLE.includes(error.code)) throw error;
      errors.set(step, error);
    }
  }
  round.signal.throwIfAborted();
  if (round.extent === 'all' && errors.has(compareRooms)) throw errors.get(compareRooms);
  for (const error of errors.values())
    deps.log.warn({ err: error }, 'a part of the comparison failed; trying again');
}

const UNAVAILABLE: readonly ErrorCode[] = ['media-server-unavailable', 'storage-unavailable'];

async function compareRooms(deps: RoundDeps, { extent }: Round): Promise<void> {
  const rooms = await reconcileRooms(deps, extent);
  if (rooms > 0) deps.log.info({ rooms }, 'published missed events of rooms');
}

/**
 * Idle time after which nothing can arrive: the media server repeats an event for 15 s, and an end that it does not report
 * is published after 20 s.
 */
const QUIET_AFTER_MS = 60_000;

/** A stopped recording is checked for this long, because its file may still be stored. */
const STOPPED_RECORDINGS_QUIET_AFTER_MS = 48 * 3_600_000;

type IdleTimeDeps = {
  readonly clock: Clock;
  readonly mediaServer: Pick<MediaServer, 'listRooms'>;
  readonly missingSince: MissingSince;
  readonly store: Pick<MediaEventStores, 'presence' | 'recordings' | 'transcriptions'>;
};

/** Measures the time for which nothing could differ from the media server. */
class IdleTime {
  #since: number | undefined;

  /**
   * Returns whether the idle time is long enough that nothing can arrive any more, such as the event of a recording that has
   * just ended.
   */
  async isLongEnough(deps: IdleTimeDeps): Promise<boolean> {
    const at = deps.clock.monotonic();
    this.#since = (await isIdle(deps, deps.clock.now())) ? (this.#since ?? at) : undefined;
    return this.#since !== undefined && at - this.#since >= QUIET_AFTER_MS;
  }
}

/** Takes three small reads, and one list of no rooms. */
async function isIdle({ store, mediaServer, missingSince }: IdleTimeDeps, now: number): Promise<boolean> {
  if (missingSince.rooms.size > 0) return false;
  if (await store.presence.isAnyRoomOpen()) return false;
  if (await store.recordings.isAnyActiveSince(now - STOPPED_RECORDINGS_QUIET_AFTER_MS)) return false;
  if ((await store.transcriptions.listActiveLive()).length > 0) return false;
  return (await mediaServer.listRooms()).length === 0;
}

/**
 * Wraps a media server so that its calls reject as soon as the signal aborts. A request that was sent is not undone, but its
 * response is ignored.
 */
function abortableMediaServer(mediaServer: MediaServer, signal: AbortSignal): MediaServer {
  return new Proxy(mediaServer, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...parameters: readonly unknown[]) =>
        untilAborted(signal, () => Reflect.apply(method, target, parameters));
    },
  });
}

async function untilAborted<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([call(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/*
 * The comparison of everything with the media server, which follows a time in which events may have been missed. Of several
 * instances that need one, one makes it, and the others rely on it:
 *   - After a start, any running comparison is sufficient: the instance that makes it was there before this one, and
 *     receives the events in the meantime. A comparison that ended before is not: there may have been no instance since.
 *   - After refused events, the comparison must begin later than the refusal: a running one may have compared their
 *     rooms already. The order is determined by numbers in the database, not by clocks.
 *
 * An instance that was killed during a comparison blocks the others until its lease ends. An instance that was suspended for
 * longer gives its comparison up, or completes it beside the next one: every change locks its room, and is stored once.
 */

/** Short, because the instances that wait for a dead one have not published the missed events yet. */
const COMPARISON_LEASE_MS = 3_000;

/** Interval at which instances that rely on another one check whether its comparison has ended. */
const POLL_INTERVAL_MS = 1_000;

type FullComparisonDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: { readonly comparisons: ComparisonStore };
  readonly instanceId: string;
  /** Called when everything has been compared. `startedAt` is an instant before the comparison, by the monotonic clock. */
  readonly onCompared?: ((startedAt: number) => void) | undefined;
};

type Cause = 'start' | 'refused-events';

type Need = {
  readonly cause: Cause;
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Number of the first sufficient comparison of another instance; undefined until a running one was found. */
  readonly servedFrom: number | undefined;
};

class FullComparison {
  readonly #deps: FullComparisonDeps;
  #need: Need | undefined;

  constructor(deps: FullComparisonDeps) {
    this.#deps = deps;
    this.need('start');
  }

  need(cause: Cause): void {
    this.#need = { cause, at: this.#deps.clock.monotonic(), servedFrom: undefined };
  }

  get isNeeded(): boolean {
    return this.#need !== undefined;
  }

  /**
   * Runs `work`, which compares everything, unless another instance does so: then it returns false, and must be called again
   * after POLL_INTERVAL_MS while the comparison is needed. The signal of the work aborts when another instance has taken
   * over.
   */
  async run(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const need = this.#need;
    if (need === undefined) return false;
    if (need.servedFrom !== undefined && (await this.#numbers()).completed >= need.servedFrom) {
      this.#serve(need, need.at);
      return false;
    }
    const startedAt = this.#deps.clock.monotonic();
    const number = await this.#begin();
    if (number !== undefined) {
      await this.#compare({ number, signal, work });
      this.#serve(need, startedAt);
      return true;
    }
    // Reads the numbers after the other comparison was found running: it may have ended by now, and is sufficient all the
    // same.
    const { begun } = await this.#numbers();
    const servedFrom = need.servedFrom ?? (need.cause === 'start' ? begun : begun + 1);
    if (this.#need === need) this.#need = { ...need, servedFrom };
    return false;
  }

  async #compare({ number, signal, work }: Begun): Promise<void> {
    const { clock, log, store, instanceId } = this.#deps;
    const comparison = { owner: instanceId, number };
    const renew = () => store.comparisons.renew(comparison, clock.now() + COMPARISON_LEASE_MS);
    let outcome: 'completed' | 'given-up' = 'given-up';
    try {
      await keepLease({ clock, log, leaseMs: COMPARISON_LEASE_MS, renew, signal }, work);
      outcome = 'completed';
    } finally {
      await store.comparisons.end(comparison, outcome).catch((error: unknown) => {
        log.warn(
          { err: error },
          'the end of a comparison could not be stored; others wait until its lease ends',
        );
      });
    }
  }

  async #begin(): Promise<number | undefined> {
    const { clock, store, instanceId } = this.#deps;
    const now = clock.now();
    return await store.comparisons.begin({ owner: instanceId, until: now + COMPARISON_LEASE_MS }, now);
  }

  #numbers(): Promise<ComparisonNumbers> {
    return this.#deps.store.comparisons.numbers();
  }

  #serve(need: Need, startedAt: number): void {
    // Events that were refused in the meantime need another comparison.
    if (this.#need === need) this.#need = undefined;
    this.#deps.onCompared?.(startedAt);
  }
}

type Begun = {
  readonly number: number;
  readonly signal: AbortSignal;
  readonly work: (signal: AbortSignal) => Promise<void>;
};
