import { ServiceError } from '../../contract/errors.ts';
import type { PresenceStore } from '../events/store.ts';
import { withTimeout } from '../platform/with-timeout.ts';

/** Participants can be listed without the database. */
const TIMEOUT_MS = 200;

/**
 * Returns a function that finds out which participants have left, by their sids. A media server goes on listing those of
 * a process that died; while the database is away or slow, so do we.
 */
export function createFindLeft(
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
