import { type Static, Type } from 'typebox';
import { instantSchema, nameSchema, roomIdParameter } from './names.ts';
import { nextCursor, pageCursor, pageLimit } from './paging.ts';
import { closedQuery, named, orNull } from './schema.ts';

/** Longest block that ends, 31 years. A caller who needs more blocks forever. */
export const MAX_BLOCK_SECONDS = 999_999_999;

/** Duration of a block: seconds, or `forever`. */
export type BlockDuration = number | 'forever';

/** Returns undefined for a text that is no duration of a block. */
export function parseBlockDuration(text: string): BlockDuration | undefined {
  if (text === 'forever') return text;
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** Returns why `text` is no duration of a block; undefined when it is one. */
export function blockDurationFault(text: string): string | undefined {
  if (parseBlockDuration(text) !== undefined) return undefined;
  return `must be whole seconds from 1 to ${MAX_BLOCK_SECONDS}, or forever`;
}

export const RemoveParticipantQuery = closedQuery({
  block: Type.Optional(
    Type.String({
      format: 'block-duration',
      description: `Also blocks the identity: for whole seconds from 1 to ${MAX_BLOCK_SECONDS}, or \`forever\``,
      examples: ['3600'],
    }),
  ),
});

export const BlockParams = Type.Object({
  roomId: roomIdParameter,
  participantId: nameSchema('The identity that is blocked', 'ada'),
});

/** A cursor contains an identity of 256 bytes, each written as six. */
const MAX_CURSOR_LENGTH = 2100;

export const BlockListQuery = closedQuery({
  limit: pageLimit(200, 'default 50'),
  cursor: pageCursor(MAX_CURSOR_LENGTH),
});
export type BlockListQuery = Static<typeof BlockListQuery>;

const blockFields = {
  identity: Type.String({ description: 'Blocked identity (userId)', examples: ['ada'] }),
  blockedAt: instantSchema('When it was blocked'),
  blockedUntil: orNull(instantSchema('When the block ends'), 'When the block ends; null for never'),
};

export const BlockSchema = named('Block', 'A blocked identity', blockFields);
export type Block = Static<typeof BlockSchema>;

export const BlockListSchema = named('BlockList', 'The blocked identities of a room, ordered by identity', {
  blocks: Type.Array(BlockSchema, { description: 'The blocks' }),
  nextCursor,
});
export type BlockList = Static<typeof BlockListSchema>;

export const RoomBlockSchema = named('RoomBlock', 'An identity that is blocked in a room', {
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  ...blockFields,
});
export type RoomBlock = Static<typeof RoomBlockSchema>;

export const RoomBlockListSchema = named(
  'RoomBlockList',
  'The blocked identities of all rooms, ordered by room and identity',
  { blocks: Type.Array(RoomBlockSchema, { description: 'The blocks' }), nextCursor },
);
export type RoomBlockList = Static<typeof RoomBlockListSchema>;
