import { setImmediate } from 'node:timers/promises';
import type { ErasedTraces } from '../../contract/words.ts';
import type { AuditWriter } from '../access/audit/audit-writer.ts';
import type { Clock } from '../platform/clock.ts';
import type { RoomStores } from '../rooms/store.ts';
import type { AuditPlace, ErasureStep, ErasureStores, Person } from './store.ts';

export type ErasureDeps = {
  readonly store: ErasureStores & RoomStores;
  readonly clock: Pick<Clock, 'now'>;
  readonly auditWriter: Pick<AuditWriter, 'flush'>;
};

const BLOCKS_AT_ONCE = 100;

/**
 * Erases a person's identity, name and metadata from everything but the transcripts' segments. Works in steps; after an
 * error or a restart the same call erases the rest. Call it before the segments are deleted, whose tracks it needs.
 */
export async function erasePerson(
  { store: { erasure, blocks }, clock, auditWriter }: ErasureDeps,
  person: Person,
): Promise<ErasedTraces> {
  // Entries of earlier attempts of this erasure have the identity.
  await auditWriter.flush();
  const speakers = await repeat('', (after) => erasure.eraseSpeakers(person, after));
  const events = await repeat(0, (after) => erasure.eraseEvents(person, after));
  const start: AuditPlace = { occurredAt: 0, id: '' };
  const auditEntries = await repeat(start, (after) => erasure.eraseAuditIds(person, after));
  let ended = 0;
  for (;;) {
    const rooms = await erasure.listBlockedIn(person, clock.now(), BLOCKS_AT_ONCE);
    for (const room of rooms) await blocks.delete({ room, identity: person.identity }, clock.now());
    ended += rooms.length;
    if (rooms.length < BLOCKS_AT_ONCE) break;
  }
  let presentIn = 0;
  const connections = await repeat('', async (after) => {
    const step = await erasure.eraseConnections(person, after);
    presentIn += step.present;
    return step;
  });
  await erasure.refreshStatistics();
  return { events, connections, speakers, blocks: ended, auditEntries, presentIn };
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
