import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import { keepLease } from '../platform/jobs/keep-lease.ts';
import { startLoop } from '../platform/jobs/loop.ts';
import { abortableMediaServer } from '../platform/livekit/abortable-media-server.ts';
import { EVENT_ARRIVAL_MS } from '../platform/livekit/media-event.ts';
import { NO_ROOM } from '../platform/livekit/media-server.ts';
import {
  type AbandonedStartDeps,
  giveUpAbandonedStarts,
  stopLateStarts,
} from '../recordings/abandoned-starts.ts';
import type { RefreshDeps } from '../recordings/egress-state.ts';
import { publishMissedEnds, reconcileRecordings } from '../recordings/reconcile-recordings.ts';
import { sweepBlocks } from '../rooms/blocks/remove-blocked.ts';
import { reconcileTranscriptions } from '../transcription/stop-transcription.ts';
import { IdleTime } from './idle-time.ts';
import { MissingSince } from './missing-since.ts';
import { OrphanedRooms } from './orphaned-rooms.ts';
import { type ReconcileDeps, reconcileRooms } from './reconcile-rooms.ts';

/*
 * Compares with the media server, to find what its events did not report. One instance does it at a time: it holds a
 * lease, which it renews during a round, which outlasts the pause between two rounds, and which it releases when it
 * closes.
 *
 * The lease saves work, and nothing depends on it: every change locks its room or its row, and every event has a source
 * id that names what happened. Therefore a round that follows a time without events (before the start, or while events
 * were refused) does not wait for a lease that another instance holds, or held when it was killed.
 */

const EVERY_MS = 30_000;
/** Between the end of a long round and the next one. */
const PAUSE_MS = 10_000;
/** Outlasts EVERY_MS; and, renewed every third of it, a pause after a long round. */
const LEASE_MS = 45_000;
const LEASE = 'reconcile';
/** A media server or a database that is away is asked this often, at first and later. */
const BACKOFF = { firstMs: 1_000, maxMs: 5_000 };

type Deps = Omit<ReconcileDeps, 'missingSince' | 'orphans'> &
  RefreshDeps &
  AbandonedStartDeps & {
    /** Called when the lease was taken over from an instance that had not given it back. */
    readonly onTakeover?: (() => void) | undefined;
  };

export type ReconcilerDeps = Deps & {
  /** Called when a round has compared everything with the media server; `startedAt` is its start by the monotonic clock. */
  readonly onCompared?: (startedAt: number) => void;
};

export type Reconciler = {
  /** Events were refused: compares everything as soon as the media server and the database respond. */
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
  /** Whether a time without events has not been followed by a comparison yet. */
  let mayHaveMissed = true;
  let isMediaServerAway = false;
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'comparing with the media server failed; trying again',
    backoff: BACKOFF,
    round: async (signal) => {
      // While it is away the database is left alone.
      if (isMediaServerAway) await abortableMediaServer(deps.mediaServer, signal).listRooms([NO_ROOM]);
      isMediaServerAway = false;
      const startedAt = clock.monotonic();
      const comparesAll = mayHaveMissed;
      mayHaveMissed = false;
      try {
        const hasRun = await runRound(roundDeps, { comparesAll, signal });
        if (hasRun && comparesAll) deps.onCompared?.(startedAt);
      } catch (error) {
        mayHaveMissed ||= comparesAll;
        isMediaServerAway = error instanceof ServiceError && error.code === 'media-server-unavailable';
        throw error;
      }
      const isWaiting = roundDeps.missingSince.rooms.size > 0;
      const passedMs = clock.monotonic() - startedAt;
      return Math.max((isWaiting ? EVENT_ARRIVAL_MS : EVERY_MS) - passedMs, PAUSE_MS);
    },
  });
  return {
    compareAll: () => {
      mayHaveMissed = true;
      loop.wakeWithin(BACKOFF.firstMs);
    },
    close: async () => {
      await loop.close();
      await store.leases.release({ name: LEASE, owner: instanceId });
    },
  };
}

type Round = { readonly comparesAll: boolean; readonly signal: AbortSignal };

/** False when another instance compares. */
async function runRound(deps: RoundDeps, round: Round): Promise<boolean> {
  const { clock, log, store, missingSince, instanceId } = deps;
  const renew = async (): Promise<boolean> => {
    const now = clock.now();
    const lease = { name: LEASE, owner: instanceId, onTakeover: deps.onTakeover };
    return await store.leases.acquire({ ...lease, until: now + LEASE_MS }, now);
  };
  if (!(await mayDiffer(deps, round))) return true;
  const isOwner = await renew();
  if (round.comparesAll) missingSince.countAtOnce();
  else if (!isOwner) {
    missingSince.forget();
    return false;
  }
  const work = (signal: AbortSignal): Promise<void> => runSteps(deps, { ...round, signal });
  if (isOwner) await keepLease({ clock, log, leaseMs: LEASE_MS, renew, signal: round.signal }, work);
  else await work(round.signal);
  return true;
}

/** False where every step would find nothing. An idle instance takes no lease then, and writes nothing. */
async function mayDiffer(deps: RoundDeps, { comparesAll, signal }: Round): Promise<boolean> {
  const mediaServer = abortableMediaServer(deps.mediaServer, signal);
  return comparesAll || !(await deps.idleTime.hasSettled({ ...deps, mediaServer }));
}

type Step = (deps: RoundDeps, round: Round) => Promise<unknown>;

const STEPS: readonly Step[] = [
  publishMissedEnds,
  compareRooms,
  (deps, { signal }) => sweepBlocks(deps, signal),
  reconcileTranscriptions,
  reconcileRecordings,
  giveUpAbandonedStarts,
  stopLateStarts,
];

/** One step that fails does not keep the others from running, unless they would fail alike. */
async function runSteps(deps: RoundDeps, round: Round): Promise<void> {
  const mediaServer = abortableMediaServer(deps.mediaServer, round.signal);
  const errors: unknown[] = [];
  for (const step of STEPS) {
    round.signal.throwIfAborted();
    try {
      await step({ ...deps, mediaServer }, round);
    } catch (error) {
      if (error instanceof ServiceError && HOPELESS.includes(error.code)) throw error;
      errors.push(error);
    }
  }
  round.signal.throwIfAborted();
  for (const error of errors) deps.log.warn({ err: error }, 'a part of the comparison failed; trying again');
}

const HOPELESS: readonly ErrorCode[] = ['media-server-unavailable', 'storage-unavailable'];

async function compareRooms(deps: RoundDeps, { comparesAll }: Round): Promise<void> {
  const rooms = await reconcileRooms(deps, comparesAll ? 'all' : 'differing');
  if (rooms > 0) deps.log.info({ rooms }, 'published events of rooms that were missed');
}
