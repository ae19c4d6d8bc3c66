import type { Clock } from '../../platform/clock.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import type { Block, BlockSubject, RoomStores } from '../store.ts';

/*
 * The blocks in memory, so that a token reads nothing. A change is told to all instances, each of which reads anew for
 * its next token; one that was not told does so after MAX_AGE_MS.
 *
 * While the database is away tokens go by the last blocks that were read: nobody can be blocked meanwhile, and whoever was
 * blocked in the moment before is removed when they join. Only what this process itself has changed since is waited for.
 */

/** The longest that a new block may be unknown to an instance that was not told. */
export const MAX_AGE_MS = 5000;

/** The longest that a token waits for a database that does not respond, while there are blocks to go by. */
export const MAX_WAIT_MS = 1000;

/** With more blocks than this, of some hundred bytes each, every token reads its own. */
export const MAX_KNOWN_BLOCKS = 50_000;

/** Undefined for who is not blocked now. Rejects with storage-unavailable. */
export type FindBlock = (subject: BlockSubject) => Promise<Block | undefined>;

export type KnownBlocks = { readonly find: FindBlock; readonly close: () => void };

export type KnownBlocksDeps = {
  readonly store: RoomStores & { readonly changes: ChangeFeed };
  /** The store's clock, so that a block ends for all instances at once. */
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
};

/** Undefined when there are too many to hold. */
type Blocks = ReadonlyMap<string, Block> | undefined;

/** `freshUntil` by the monotonic clock; the blocks are kept beyond it, for when the database is away. */
type Known = { readonly blocks: Blocks; readonly freshUntil: number };

export function openKnownBlocks({ store, clock }: KnownBlocksDeps): KnownBlocks {
  let known: Known | undefined;
  let reading: Promise<Blocks> | undefined;
  let changesSeen = 0;
  const unsubscribe = store.changes.subscribe('blocks', (origin) => {
    changesSeen += 1;
    reading = undefined;
    if (known !== undefined) known = origin === 'here' ? undefined : { ...known, freshUntil: 0 };
  });

  const read = async (): Promise<Blocks> => {
    const seen = changesSeen;
    const freshUntil = clock.monotonic() + MAX_AGE_MS;
    const rows = await store.blocks.listLasting(clock.now(), MAX_KNOWN_BLOCKS + 1);
    const isWhole = rows.length <= MAX_KNOWN_BLOCKS;
    const blocks = isWhole ? new Map(rows.map((block) => [keyOf(block), block])) : undefined;
    if (seen === changesSeen) known = { blocks, freshUntil };
    return blocks;
  };

  /** Tokens that come while a read runs share it, unless a change was told meanwhile. */
  const readShared = (): Promise<Blocks> => {
    if (reading !== undefined) return reading;
    const own = read().finally(() => {
      if (reading === own) reading = undefined;
    });
    reading = own;
    return own;
  };

  /** The blocks as known before, when the database does not respond in time; the next second's tokens do not wait then. */
  const readOr = async (before: Known): Promise<Blocks> => {
    const goOn = (): Blocks => {
      if (known === before) known = { ...before, freshUntil: clock.monotonic() + MAX_WAIT_MS };
      return before.blocks;
    };
    const waiting = new AbortController();
    const waited = clock.sleep(MAX_WAIT_MS, waiting.signal).then(goOn, () => before.blocks);
    try {
      return await Promise.race([readShared().catch(goOn), waited]);
    } finally {
      waiting.abort();
    }
  };

  const current = (): Blocks | Promise<Blocks> => {
    if (known === undefined) return readShared();
    return clock.monotonic() < known.freshUntil ? known.blocks : readOr(known);
  };

  return {
    find: async (subject) => {
      const blocks = await current();
      const now = clock.now();
      if (blocks === undefined) return await store.blocks.find(subject, now);
      const block = blocks.get(keyOf(subject));
      const lasts = block !== undefined && (block.blockedUntil === null || block.blockedUntil > now);
      return lasts ? block : undefined;
    },
    close: unsubscribe,
  };
}

function keyOf({ room, identity }: BlockSubject): string {
  return `${room.length}:${room}${identity}`;
}
