import type { Readiness } from '../../contract/health.ts';
import type { Clock } from '../platform/clock.ts';
import type { LeaseStore } from '../platform/jobs/leases.ts';
import { type MediaServer, NO_ROOM } from '../platform/livekit/media-server.ts';
import { withTimeout } from '../platform/with-timeout.ts';

export type ReadinessDeps = {
  readonly mediaServer: MediaServer;
  readonly store: { readonly leases: Pick<LeaseStore, 'acquire'> };
  readonly clock: Clock;
};

/**
 * Maximum age of a result. Readiness is public, so that its calls of the media server and its writes must not depend on the
 * number of requests.
 */
const MAX_AGE_MS = 1000;
/** Time limit of a check. Load balancers expect a response within a second. */
const READINESS_TIMEOUT_MS = 900;
const LEASE = 'readiness';

/** Returns a function that checks the media server and the database, at most once per second. */
export function createReadinessCheck(deps: ReadinessDeps): () => Promise<Readiness> {
  let latest: { readonly at: number; readonly readiness: Promise<Readiness> } | undefined;
  return () => {
    const now = deps.clock.monotonic();
    if (latest === undefined || now - latest.at >= MAX_AGE_MS) {
      latest = { at: now, readiness: checkReadiness(deps) };
    }
    return latest.readiness;
  };
}

async function checkReadiness({ mediaServer, store, clock }: ReadinessDeps): Promise<Readiness> {
  const now = clock.now();
  const [isMediaServerReady, isDatabaseReady] = await Promise.all([
    succeeds(mediaServer.listRooms([NO_ROOM])),
    // Checks a write, because a full or read-only disk can still be read.
    succeeds(store.leases.acquire({ name: LEASE, owner: LEASE, until: now }, now)),
  ]);
  return {
    ready: isMediaServerReady && isDatabaseReady,
    checks: { mediaServer: isMediaServerReady, database: isDatabaseReady },
  };
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  const success = work.then(
    () => true,
    () => false,
  );
  return await withTimeout(success, READINESS_TIMEOUT_MS, false);
}
