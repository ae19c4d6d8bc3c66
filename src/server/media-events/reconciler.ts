import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import { EVENT_ARRIVAL_MS } from '../platform/livekit/media-event.ts';
import {
  type AbandonedStartDeps,
  giveUpAbandonedStarts,
  stopLateStarts,
} from '../recordings/abandoned-starts.ts';
import type { RefreshDeps } from '../recordings/egress-state.ts';
import { publishMissedEnds, reconcileRecordings } from '../recordings/reconcile-recordings.ts';
import { reconcileTranscriptions } from '../transcription/stop-transcription.ts';
import { MissingSince } from './missing-since.ts';
import { type ReconcileDeps, reconcileRooms } from './reconcile-rooms.ts';

/** What the media server's events missed is found within this. */
const EVERY_MS = 30_000;
/** One instance at a time: the lease outlasts a round, and a dead instance's runs out before the next but one. */
const LEASE_MS = 55_000;
const LEASE = 'reconcile';

export type ReconcilerDeps = ReconcileDeps & RefreshDeps & AbandonedStartDeps;

export type Reconciler = { readonly close: () => Promise<void> };

/** Compares with the media server at the start and every so often; sooner, where something seems to be missing. */
export function startReconciler(deps: ReconcilerDeps): Reconciler {
  const closing = new AbortController();
  const loop = run({ ...deps, missingSince: new MissingSince() }, closing.signal);
  return {
    close: async () => {
      closing.abort();
      await loop;
      await deps.store.leases.release(LEASE, deps.instanceId);
    },
  };
}

type RoundDeps = ReconcilerDeps & { readonly missingSince: MissingSince };

async function run(deps: RoundDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await reconcileOnce(deps).catch((error: unknown) => warn(deps, error));
    await deps.clock.sleep(deps.missingSince.isWaiting ? EVENT_ARRIVAL_MS : EVERY_MS, signal).catch(() => {});
  }
}

const STEPS: readonly ((deps: RoundDeps) => Promise<unknown>)[] = [
  publishMissedEnds,
  compareRooms,
  reconcileTranscriptions,
  reconcileRecordings,
  giveUpAbandonedStarts,
  stopLateStarts,
];

/** One step that fails does not keep the others from theirs, unless there is nobody to ask. */
async function reconcileOnce(deps: RoundDeps): Promise<void> {
  const now = deps.clock.now();
  if (!(await deps.store.leases.acquire(LEASE, deps.instanceId, now, now + LEASE_MS))) return;
  for (const step of STEPS) {
    try {
      await step(deps);
    } catch (error) {
      if (error instanceof ServiceError && HOPELESS.includes(error.code)) throw error;
      warn(deps, error);
    }
  }
}

const HOPELESS: readonly ErrorCode[] = ['media-server-unavailable', 'storage-unavailable'];

async function compareRooms(deps: RoundDeps): Promise<void> {
  const differing = await reconcileRooms(deps, deps.missingSince);
  if (differing > 0) deps.log.info({ rooms: differing }, 'told what the events of rooms missed');
}

function warn({ log }: RoundDeps, error: unknown): void {
  log.warn({ err: error }, 'comparing with the media server failed; trying again');
}
