import type { Readiness } from '../../contract/health.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';

/** Rejects when the database does not answer. */
export type DatabasePing = { readonly ping: () => Promise<void> };

export type ReadinessDeps = { readonly mediaServer: MediaServer; readonly store: DatabasePing };

/** A name that no room can have. Looking it up is the cheapest call that verifies our key. */
const NO_ROOM = '\u0000ready';

export async function checkReadiness({ mediaServer, store }: ReadinessDeps): Promise<Readiness> {
  const [isMediaServerReady, isDatabaseReady] = await Promise.all([
    succeeds(mediaServer.listRooms([NO_ROOM])),
    succeeds(store.ping()),
  ]);
  return {
    ready: isMediaServerReady && isDatabaseReady,
    checks: { mediaServer: isMediaServerReady, database: isDatabaseReady },
  };
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  );
}
