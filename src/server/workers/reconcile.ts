import { type DiscardDeps, discardAbandonedStarts, stopLateStarts } from '../domain/discard-start.ts';
import { reconcileRecordings } from '../domain/reconcile-recordings.ts';
import { type ReconcileDeps, reconcileRooms } from '../domain/reconcile-rooms.ts';
import type { RefreshDeps } from '../domain/refresh-recording.ts';
import { reconcileTranscriptions } from '../domain/stop-transcription.ts';

/** What the media server's events missed is found within this. */
const EVERY_MS = 30_000;
/** One instance at a time: the lease outlasts a round, and a dead instance's runs out before the next but one. */
const LEASE_MS = 55_000;
const LEASE = 'reconcile';

export type ReconcilerDeps = ReconcileDeps & RefreshDeps & DiscardDeps;

export type Reconciler = { readonly close: () => Promise<void> };

/** Compares with the media server at the start and every so often. */
export function startReconciler(deps: ReconcilerDeps): Reconciler {
  const closing = new AbortController();
  const loop = run(deps, closing.signal);
  return {
    close: async () => {
      closing.abort();
      await loop;
      await deps.store.leases.release(LEASE, deps.instanceId);
    },
  };
}

async function run(deps: ReconcilerDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await reconcileOnce(deps).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'comparing with the media server failed; trying again');
    });
    await deps.clock.sleep(EVERY_MS, signal).catch(() => {});
  }
}

async function reconcileOnce(deps: ReconcilerDeps): Promise<void> {
  const now = deps.clock.now();
  if (!(await deps.store.leases.acquire(LEASE, deps.instanceId, now, now + LEASE_MS))) return;
  const differing = await reconcileRooms(deps);
  if (differing > 0) deps.log.info({ rooms: differing }, 'told what the events of rooms missed');
  await reconcileTranscriptions(deps);
  await reconcileRecordings(deps);
  await discardAbandonedStarts(deps);
  await stopLateStarts(deps);
}
