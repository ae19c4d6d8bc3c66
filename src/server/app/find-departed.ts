import { ServiceError } from '../../contract/errors.ts';
import type { PresenceStore } from '../events/store.ts';
import { withTimeout } from '../platform/with-timeout.ts';

/** Time limit: participants can be listed without the database. */
const TIMEOUT_MS = 200;

/**
 * Returns a function that finds out which participants have left, by their sids. A media server continues to list the
 * participants of a dead process. While the database is slow or does not respond, this service lists them too.
 */
export function createFindDeparted(
  presence: Pick<PresenceStore, 'findParticipants'>,
): (sids: readonly string[]) => Promise<ReadonlySet<string>> {
  return async (sids) => {
    if (sids.length === 0) return new Set();
    const found = presence.findParticipants(sids).catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === 'storage-unavailable') return [];
      throw error;
    });
    const known = await withTimeout(found, TIMEOUT_MS, []);
    return new Set(known.filter(({ leftAt }) => leftAt !== null).map(({ sid }) => sid));
  };
}
