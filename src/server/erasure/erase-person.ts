import { setImmediate } from 'node:timers/promises';
import type { ErasedTraces } from '../../contract/words.ts';
import type { AuditWriter } from '../access/audit/audit-writer.ts';
import type { Clock } from '../platform/clock.ts';
import { ENDED_KEPT_MS, toSeenSubject } from '../rooms/blocks/blocks.ts';
import type { RoomStores } from '../rooms/store.ts';
import type { AuditPlace, ErasureStep, ErasureStores, Person } from './store.ts';

export type ErasureDeps = {
  readonly store: ErasureStores & RoomStores;
  readonly clock: Pick<Clock, 'now'>;
  readonly auditWriter: Pick<AuditWriter, 'flush'>;
  readonly auditRetentionMs: number;
};

const BLOCKS_AT_ONCE = 100;

/** Ended blocks are looked for in each round of the comparison with the media server. */
const PURGED_WITHIN_MS = 60_000;

/**
 * Erases a person's identity, name and metadata from everything but the transcripts' segments. Works in steps; after an
 * error or a restart the same call erases the rest. Call it before the segments are deleted, whose tracks it needs.
 */
export async function erasePerson(
  { store, clock, auditWriter, auditRetentionMs }: ErasureDeps,
  person: Person,
): Promise<ErasedTraces> {
  const { erasure } = store;
  // Entries of earlier attempts of this erasure have the identity.
  await auditWriter.flush();
  const speakers = await repeat('', (after) => erasure.eraseSpeakers(person, after));
  const events = await repeat(0, (after) => erasure.eraseEvents(person, after));
  const start: AuditPlace = { occurredAt: 0, id: '' };
  const auditEntries = await repeat(start, (after) => erasure.eraseAuditIds(person, after));
  await store.entryDecisions.forget(person);
  const ofBlocks = await endBlocks({ store, clock }, person);
  let presentIn = 0;
  const connections = await repeat('', async (after) => {
    const step = await erasure.eraseConnections(person, after);
    presentIn += step.present;
    return step;
  });
  await erasure.refreshStatistics();
  const auditEntriesUntil = new Date(clock.now() + auditRetentionMs).toISOString();
  return { events, connections, speakers, ...ofBlocks, auditEntries, auditEntriesUntil, presentIn };
}

/**
 * A block has two rows: the identity as it was given, and as people see it, without invisible characters. The first one is
 * counted.
 */
async function endBlocks(
  { store: { erasure, blocks }, clock }: Pick<ErasureDeps, 'store' | 'clock'>,
  { identity: asked, room }: Person,
): Promise<Pick<ErasedTraces, 'blocks' | 'blocksUntil'>> {
  let ended = 0;
  let lastEnd = 0;
  for (const identity of new Set([asked, toSeenSubject({ room: '', identity: asked }).identity])) {
    for (;;) {
      const rooms = await erasure.listBlockedIn({ identity, room }, clock.now(), BLOCKS_AT_ONCE);
      for (const one of rooms) await blocks.delete({ room: one, identity }, clock.now());
      ended += identity === asked ? rooms.length : 0;
      if (rooms.length < BLOCKS_AT_ONCE) break;
    }
    lastEnd = Math.max(lastEnd, (await erasure.findLastBlockEnd({ identity, room })) ?? 0);
  }
  // Ended blocks are kept for a while, so that other instances see that they ended.
  const until = lastEnd + ENDED_KEPT_MS + PURGED_WITHIN_MS;
  return { blocks: ended, blocksUntil: lastEnd === 0 ? null : new Date(until).toISOString() };
}

async function repeat<Place>(
  first: Place,
  step: (after: Place) => Promise<ErasureStep<Place>>,
): Promise<number> {
  let erased = 0;
  for (let place: Place | undefined = first; place !== undefined; ) {
    const done: ErasureStep<Place> = await step(place);
    erased += done.erased;
    place = done.next;
    // Others have their turn between two steps.
    await setImmediate();
  }
  return erased;
}
