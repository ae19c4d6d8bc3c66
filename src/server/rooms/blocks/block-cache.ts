import type { Clock } from '../../platform/clock.ts';
import { openCachedReading } from '../../platform/storage/cached-reading.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import type { Block, BlockSubject, RoomStores } from '../store.ts';

/*
 * Caches the blocks in memory, so that issuing a token needs no read.
 *
 * While the database does not respond the last blocks that were read apply. Nobody can be blocked in that time; a
 * participant who was blocked just before is removed on joining.
 */

/** Maximum time for which an instance that was not notified may miss a new block. */
export const MAX_AGE_MS = 5000;

/** Maximum time for which a token waits for a database that does not respond, if there are cached blocks. */
export const MAX_WAIT_MS = 1000;

/** With more blocks than this, of some hundred bytes each, every token reads its own block from the database. */
export const MAX_CACHED_BLOCKS = 50_000;

/**
 * Returns undefined for an identity that is not blocked now, and a promise only if the database has to be read. It rejects
 * with storage-unavailable.
 */
export type FindBlock = (subject: BlockSubject) => Block | undefined | Promise<Block | undefined>;

export type BlockCache = { readonly find: FindBlock; readonly close: () => void };

export type BlockCacheDeps = {
  readonly store: RoomStores & { readonly changes: ChangeFeed };
  /** The store's clock, so that a block ends on all instances at once. */
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
};

/** Undefined when there are too many blocks to keep in memory. */
type Blocks = ReadonlyMap<string, Block> | undefined;

export function openBlockCache({ store, clock }: BlockCacheDeps): BlockCache {
  const read = async (): Promise<Blocks> => {
    const rows = await store.blocks.listLasting(clock.now(), MAX_CACHED_BLOCKS + 1);
    return rows.length > MAX_CACHED_BLOCKS ? undefined : new Map(rows.map((block) => [toKey(block), block]));
  };
  const known = openCachedReading({
    store,
    clock,
    topic: 'blocks',
    read,
    maxAgeMs: MAX_AGE_MS,
    maxWaitMs: MAX_WAIT_MS,
  });
  const findIn = (blocks: Blocks, subject: BlockSubject): ReturnType<FindBlock> => {
    const now = clock.now();
    if (blocks === undefined) return store.blocks.find(subject, now);
    const block = blocks.get(toKey(subject));
    const lasts = block !== undefined && (block.blockedUntil === null || block.blockedUntil > now);
    return lasts ? block : undefined;
  };
  return {
    find: (subject) => {
      const blocks = known.current();
      if (!(blocks instanceof Promise)) return findIn(blocks, subject);
      return blocks.then((read) => findIn(read, subject));
    },
    close: known.close,
  };
}

function toKey({ room, identity }: BlockSubject): string {
  return `${room.length}:${room}${identity}`;
}
