import type { BlockDuration, BlockList, Block as WireBlock } from '../../../contract/blocks.ts';
import { ServiceError } from '../../../contract/errors.ts';
import { nameFault } from '../../../contract/names.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import type { Clock } from '../../platform/clock.ts';
import { cursorOf } from '../../platform/http/read-page.ts';
import { forEachConcurrently } from '../../platform/jobs/concurrently.ts';
import type { MediaEvent } from '../../platform/livekit/media-event.ts';
import type { MediaServer } from '../../platform/livekit/media-server.ts';
import type { Log } from '../../platform/log.ts';
import type { Block, BlockSubject, RoomStores } from '../store.ts';
import type { FindBlock } from './block-cache.ts';

/*
 * Blocks keep an identity out of a room, by name: it gets no token from us, and is removed when it joins with an older one
 * (`removeBlocked`). LiveKit itself has no such list, and does not revoke tokens.
 */

export type BlockDeps = {
  readonly store: RoomStores;
  /** The store's clock, so that a block ends on all instances at once. */
  readonly clock: Pick<Clock, 'now'>;
};

/** Blocks an identity. A later block of the same identity replaces the earlier one, even if it is shorter. */
export async function blockIdentity(
  { store, clock }: BlockDeps,
  subject: BlockSubject,
  duration: BlockDuration,
): Promise<void> {
  const createdAt = clock.now();
  const blockedUntil = duration === 'forever' ? null : createdAt + duration * 1000;
  const { room, identity } = subject;
  await store.blocks.save({ room, identity, createdAt, blockedUntil });
}

/** Throws participant-blocked with the end of the block. It returns a promise only if the database has to be read. */
export function ensureNotBlocked(findBlock: FindBlock, subject: BlockSubject): Promise<void> | undefined {
  const found = findBlock(subject);
  if (found instanceof Promise) return found.then((block) => throwIfBlocked(block, subject));
  throwIfBlocked(found, subject);
  return undefined;
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

type BlockPage = {
  readonly room: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
};

const CURSOR = cursorOf('blocks', 'string');

/** Lists the blocks that have not ended. The room need not be open. */
export async function listBlocks({ store, clock }: BlockDeps, page: BlockPage): Promise<BlockList> {
  const { room, limit, cursor } = page;
  const after = cursor === undefined ? undefined : CURSOR.decode(cursor)[0];
  // Reads one more, to know whether there is a next page.
  const found = await store.blocks.list({ room, now: clock.now(), after, limit: limit + 1 });
  const blocks = found.slice(0, limit);
  const last = blocks.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { blocks: blocks.map(toWireBlock), nextCursor: hasMore ? CURSOR.encode(last.identity) : null };
}

/** Removes a block. Throws block-not-found. */
export async function removeBlock({ store, clock }: BlockDeps, subject: BlockSubject): Promise<void> {
  if (await store.blocks.delete(subject, clock.now())) return;
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
    blockedUntil: blockedUntil === null ? null : new Date(blockedUntil).toISOString(),
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
  const { type, room, participant } = event;
  if (type !== 'participant_joined' || room === undefined || participant === undefined) return;
  // Recorders and hidden agents are not participants for our callers.
  if (participant.kind === 'EGRESS' || participant.isHidden) return;
  const subject = { room: room.name, identity: participant.identity };
  // Tokens that another program issued may have names that we reject and that no PostgreSQL column can hold.
  if ((nameFault(subject.room) ?? nameFault(subject.identity)) !== undefined) return;
  try {
    const block = await deps.store.blocks.find(subject, deps.clock.now());
    if (block !== undefined) await remove(deps, subject);
  } catch (err) {
    deps.log.warn({ err }, 'removing a blocked participant failed; the next comparison tries again');
  }
}

const REQUESTS_AT_ONCE = 8;
const PURGE_BATCH = 500;

/**
 * Removes blocked participants who are in a room nevertheless, because the event of their join was lost or the media server
 * did not respond. Deletes blocks that have ended. Runs after the comparison with the media server has updated presence.
 */
export async function sweepBlocks(deps: RemoveBlockedDeps, signal: AbortSignal): Promise<void> {
  const { store, clock } = deps;
  const present = await store.blocks.listPresent(clock.now());
  await forEachConcurrently(present, REQUESTS_AT_ONCE, (subject) => remove(deps, subject));
  while (!signal.aborted && (await store.blocks.purge(clock.now(), PURGE_BATCH)) === PURGE_BATCH);
}

async function remove({ mediaServer, log }: RemoveBlockedDeps, subject: BlockSubject): Promise<void> {
  const { room, identity } = subject;
  try {
    await mediaServer.removeParticipant(room, identity);
    log.info({ room }, 'removed a blocked participant');
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'participant-not-found') return;
    throw error;
  }
}
