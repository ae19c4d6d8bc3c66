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

type BlockDeps = Pick<ErasureDeps, 'store' | 'clock'>;

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
  const speakers = await runSteps('', (after) => erasure.eraseSpeakers(person, after));
  const events = await runSteps(0, (after) => erasure.eraseEvents(person, after));
  const start: AuditPlace = { occurredAt: 0, id: '' };
  const auditEntries = await runSteps(start, (after) => erasure.eraseAuditIds(person, after));
  await store.entryDecisions.forget(person);
  const ofBlocks = await endBlocksOfPerson({ store, clock }, person);
  let presentIn = 0;
  const connections = await runSteps('', async (after) => {
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
async function endBlocksOfPerson(
  deps: BlockDeps,
  { identity, room }: Person,
): Promise<Pick<ErasedTraces, 'blocks' | 'blocksUntil'>> {
  const given = await endBlocks(deps, { identity, room });
  const { identity: seenAs } = toSeenSubject({ room: '', identity });
  const seen = seenAs === identity ? given : await endBlocks(deps, { identity: seenAs, room });
  const lastEnd = Math.max(given.lastEnd, seen.lastEnd);
  // Ended blocks are kept for a while, so that other instances see that they ended.
  const keptUntil = new Date(lastEnd + ENDED_KEPT_MS + PURGED_WITHIN_MS).toISOString();
  return { blocks: given.ended, blocksUntil: lastEnd === NEVER ? null : keptUntil };
}

const NEVER = 0;

/** Ends the blocks that are in force. `lastEnd` is the last end of all rows, also of blocks that had ended before. */
async function endBlocks(
  { store: { erasure, blocks }, clock }: BlockDeps,
  person: Person,
): Promise<{ readonly ended: number; readonly lastEnd: number }> {
  let ended = 0;
  for (let isMore = true; isMore; ) {
    const rooms = await erasure.listBlockedIn(person, clock.now(), BLOCKS_AT_ONCE);
    for (const room of rooms) await blocks.delete({ room, identity: person.identity }, clock.now());
    ended += rooms.length;
    isMore = rooms.length === BLOCKS_AT_ONCE;
  }
  return { ended, lastEnd: (await erasure.findLastBlockEnd(person)) ?? NEVER };
}

/** Repeats a step of erasure from where the one before it ended, until none is left. Returns how much was erased. */
async function runSteps<Place>(
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
