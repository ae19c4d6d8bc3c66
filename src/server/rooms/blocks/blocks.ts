import type {
  BlockDuration,
  BlockList,
  BlockListQuery,
  RoomBlockList,
  Block as WireBlock,
} from '../../../contract/blocks.ts';
import { hasCode, ServiceError } from '../../../contract/errors.ts';
import { nameFault } from '../../../contract/names.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { type Clock, toInstant } from '../../platform/clock.ts';
import { type KeyLimits, NO_LIMIT } from '../../platform/http/limits/key-limits.ts';
import { cursorCodec, type OfRooms, readPage } from '../../platform/http/read-page.ts';
import type { Caller } from '../../platform/http/route.ts';
import { forEachConcurrently } from '../../platform/jobs/concurrently.ts';
import type { MediaEvent } from '../../platform/livekit/media-event.ts';
import type { MediaServer } from '../../platform/livekit/media-server.ts';
import type { Log } from '../../platform/log.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import { type FindRow, MAX_GAP_MS, openRowCache, type RowCache } from '../../platform/storage/row-cache.ts';
import type { Block, BlockSubject, RoomStores } from '../store.ts';

/*
 * Blocks keep an identity out of a room, by name: it gets no token from us, and is removed when it joins with an older one
 * (`removeWhenBlocked`). LiveKit itself has no such list, and does not revoke tokens.
 */

export type BlockDeps = {
  readonly store: RoomStores;
  /** The store's clock, so that a block ends on all instances at once. */
  readonly clock: Pick<Clock, 'now'>;
};

/** Spaces at the ends, and characters that nobody sees, such as joiners, tags and marks of direction. */
const UNSEEN = /^\s+|\s+$|[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/**
 * Returns the identity as people see it: in compatibility form (NFKC), without invisible characters and blanks around it. An
 * identity that differs only in these from a blocked one is blocked as well. Upper and lower case differ.
 */
export function toSeenSubject({ room, identity }: BlockSubject): BlockSubject {
  const seen = identity.normalize('NFKC').replace(UNSEEN, '').trim();
  return { room, identity: seen === '' ? identity : seen };
}

export type BlockIdentityDeps = BlockDeps & { readonly keyLimits: Pick<KeyLimits, 'quota' | 'refuse'> };

export type BlockRequest = { readonly duration: BlockDuration; readonly caller: Caller };

/**
 * Blocks an identity, and the one as which it is seen. A later block replaces an earlier one, even if it is shorter. Throws
 * key-limit-reached.
 */
export async function blockIdentity(
  { store, clock, keyLimits }: BlockIdentityDeps,
  subject: BlockSubject,
  { duration, caller }: BlockRequest,
): Promise<void> {
  const createdAt = clock.now();
  const blockedUntil = duration === 'forever' ? null : createdAt + duration * 1000;
  const { room, identity } = subject;
  const quota = keyLimits.quota('blocks', caller);
  if (!(await store.blocks.save({ room, identity, createdAt, blockedUntil }, quota)))
    throw keyLimits.refuse('blocks', caller);
  const seen = toSeenSubject(subject);
  // The second row is stored whatever the limit of the key, so that no block is half stored.
  if (seen.identity !== identity)
    await store.blocks.save({ ...seen, createdAt, blockedUntil }, { ...quota, limit: NO_LIMIT });
}

/** Throws participant-blocked with the end of the block. It returns a promise only if the database has to be read. */
export function ensureNotBlocked(findBlock: FindBlock, subject: BlockSubject): Promise<void> | undefined {
  const seen = toSeenSubject(subject);
  if (seen.identity !== subject.identity) return ensureNeitherBlocked(findBlock, [subject, seen]);
  const found = findBlock(subject);
  if (found instanceof Promise) return found.then((block) => throwIfBlocked(block, subject));
  throwIfBlocked(found, subject);
  return undefined;
}

async function ensureNeitherBlocked(
  findBlock: FindBlock,
  [subject, seen]: readonly [asked: BlockSubject, seen: BlockSubject],
): Promise<void> {
  throwIfBlocked(await findBlock(subject), subject);
  throwIfBlocked(await findBlock(seen), seen);
}

function throwIfBlocked(block: Block | undefined, subject: BlockSubject): void {
  if (block === undefined) return;
  const { room, identity } = subject;
  const { blockedUntil } = toWireBlock(block);
  const until = blockedUntil === null ? 'for ever' : `until ${blockedUntil}`;
  throw new ServiceError(
    'participant-blocked',
    `${JSON.stringify(identity)} is blocked in room ${JSON.stringify(room)} ${until}.`,
    {
      hint: {
        text: 'lift the block',
        command: `rtc blocks remove ${shellQuote(room)} ${shellQuote(identity)}`,
      },
      extensions: { blockedUntil },
    },
  );
}

const CURSOR = cursorCodec('blocks', 'string');

/** Lists the blocks that have not ended. The room need not be open. */
export async function listBlocks(
  { store, clock }: BlockDeps,
  room: string,
  page: BlockListQuery,
): Promise<BlockList> {
  const { rows, nextCursor } = await readPage(CURSOR, page, {
    read: ({ after, limit }) => store.blocks.list({ room, now: clock.now(), after: after?.[0], limit }),
    locate: ({ identity }) => [identity] as const,
  });
  return { blocks: rows.map(toWireBlock), nextCursor };
}

const ROOMS_CURSOR = cursorCodec('blocks-of-rooms', 'string', 'string');

/** Lists the blocks of all rooms that have not ended. */
export async function listBlocksOfRooms(
  { store, clock }: BlockDeps,
  { rooms, ...page }: OfRooms<BlockListQuery>,
): Promise<RoomBlockList> {
  const { rows, nextCursor } = await readPage(ROOMS_CURSOR, page, {
    read: ({ after, limit }) => {
      const [room, identity] = after ?? [];
      const position = room === undefined || identity === undefined ? undefined : { room, identity };
      return store.blocks.listOfRooms({ now: clock.now(), after: position, limit, rooms });
    },
    locate: ({ room, identity }) => [room, identity] as const,
  });
  return { blocks: rows.map((block) => ({ roomId: block.room, ...toWireBlock(block) })), nextCursor };
}

/** Removes a block. Throws block-not-found. */
export async function removeBlock({ store, clock }: BlockDeps, subject: BlockSubject): Promise<void> {
  const isLifted = await store.blocks.delete(subject, clock.now());
  const seen = toSeenSubject(subject);
  if (seen.identity !== subject.identity) await store.blocks.delete(seen, clock.now());
  if (isLifted) return;
  const { room, identity } = subject;
  throw new ServiceError(
    'block-not-found',
    `${JSON.stringify(identity)} is not blocked in room ${JSON.stringify(room)}.`,
  );
}

function toWireBlock({ identity, createdAt, blockedUntil }: Block): WireBlock {
  return {
    identity,
    blockedAt: new Date(createdAt).toISOString(),
    blockedUntil: toInstant(blockedUntil),
  };
}

export type RemoveBlockedDeps = BlockDeps & {
  readonly mediaServer: Pick<MediaServer, 'removeParticipant'>;
  readonly log: Log;
};

/**
 * Removes a participant who has just joined with a token from before the block. Never rejects: sweepBlocks repeats what
 * failed.
 */
export async function removeWhenBlocked(deps: RemoveBlockedDeps, event: MediaEvent): Promise<void> {
  const subject = readJoin(event);
  if (subject === undefined) return;
  try {
    const now = deps.clock.now();
    const find = (one: BlockSubject) => deps.store.blocks.find(one, now);
    const seen = toSeenSubject(subject);
    const isAsSeen = seen.identity === subject.identity;
    const block = (await find(subject)) ?? (isAsSeen ? undefined : await find(seen));
    if (block !== undefined) await remove(deps, subject);
  } catch (err) {
    deps.log.warn({ err }, 'removing a blocked participant failed; the next comparison tries again');
  }
}

/**
 * Returns whether somebody joined who is blocked, as far as this instance knows. It waits only if the blocks have to be read,
 * and never rejects: a join of which nothing is known is reported.
 */
export function isBlockedJoin(findBlock: FindBlock, event: MediaEvent): boolean | Promise<boolean> {
  const subject = readJoin(event);
  if (subject === undefined) return false;
  const isBlock = (error: unknown): boolean => hasCode(error, 'participant-blocked');
  try {
    return ensureNotBlocked(findBlock, subject)?.then(() => false, isBlock) ?? false;
  } catch (error) {
    return isBlock(error);
  }
}

/** Returns who joined; undefined for other events, for recorders and for hidden agents. */
function readJoin({ type, room, participant }: MediaEvent): BlockSubject | undefined {
  if (type !== 'participant_joined' || room === undefined || participant === undefined) return undefined;
  if (participant.kind === 'EGRESS' || participant.isHidden) return undefined;
  const subject = { room: room.name, identity: participant.identity };
  // Tokens that another program issued may have names that we reject and that no PostgreSQL column can hold.
  const fault = nameFault(subject.room) ?? nameFault(subject.identity);
  return fault === undefined ? subject : undefined;
}

const REQUESTS_AT_ONCE = 8;

/** How long the row of an ended block is kept, so that every instance learns of the end. */
export const ENDED_KEPT_MS = 2 * MAX_GAP_MS;

/**
 * Removes blocked participants who are in a room nevertheless, because the event of their join was lost or the media server
 * did not respond. Runs after the comparison with the media server has updated presence.
 */
export async function sweepBlocks(deps: RemoveBlockedDeps): Promise<void> {
  const { store, clock } = deps;
  const present = await store.blocks.listPresent(clock.now());
  await forEachConcurrently(present, REQUESTS_AT_ONCE, (subject) => remove(deps, subject));
}

async function remove({ mediaServer, log }: RemoveBlockedDeps, subject: BlockSubject): Promise<void> {
  const { room, identity } = subject;
  try {
    await mediaServer.removeParticipant(room, identity);
    log.info({ room }, 'removed a blocked participant');
  } catch (error) {
    if (!hasCode(error, 'participant-not-found')) throw error;
  }
}

/** With more blocks than this, of some hundred bytes each, every token reads its own block from the database. */
export const MAX_CACHED_BLOCKS = 50_000;

export type FindBlock = FindRow<Block, BlockSubject>;

type BlockCacheDeps = {
  readonly store: Pick<RoomStores, 'blocks'> & { readonly changes: ChangeFeed };
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
};

/**
 * Nobody can be blocked while the database does not respond; a participant who was blocked just before is removed on
 * joining.
 */
export function openBlockCache({ store, clock }: BlockCacheDeps): RowCache<Block, BlockSubject> {
  return openRowCache<Block, BlockSubject>({
    rows: store.blocks,
    changes: store.changes,
    clock,
    topic: 'blocks',
    toText: ({ room, identity }) => `${room.length}:${room}${identity}`,
    lasts: ({ blockedUntil }, now) => blockedUntil === null || blockedUntil > now,
    maxRows: MAX_CACHED_BLOCKS,
  });
}
