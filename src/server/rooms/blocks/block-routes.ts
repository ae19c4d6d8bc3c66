import { BlockListQuery, BlockListSchema, BlockParams } from '../../../contract/blocks.ts';
import { RoomParams } from '../../../contract/rooms.ts';
import { defineRoute, type Route } from '../../platform/http/route.ts';
import { type BlockDeps, listBlocks, removeBlock } from './blocks.ts';

const DEFAULT_LIMIT = 50;

export function blockRoutes(deps: BlockDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/rooms/:roomId/blocks',
      operationId: 'listBlocks',
      tag: 'participants',
      summary: 'List the blocked identities of a room',
      description:
        'Ordered by identity. The room does not have to be open. Blocks that have ended are not listed.',
      security: 'signed',
      scopes: ['read', 'rooms'],
      params: RoomParams,
      query: BlockListQuery,
      success: { 200: { description: 'The blocks', schema: BlockListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ params, query }) => ({
        status: 200,
        body: await listBlocks(deps, {
          room: params.roomId,
          ...query,
          limit: query.limit ?? DEFAULT_LIMIT,
        }),
      }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/rooms/:roomId/blocks/:participantId',
      operationId: 'removeBlock',
      tag: 'participants',
      summary: 'Let an identity into the room again',
      description: 'The identity gets tokens again, and can join with one that is still valid.',
      security: 'signed',
      scopes: ['rooms'],
      params: BlockParams,
      success: { 204: { description: 'The identity is no longer blocked' } },
      errors: ['block-not-found', 'storage-unavailable'],
      handle: async ({ params }) => {
        await removeBlock(deps, { room: params.roomId, identity: params.participantId });
        return { status: 204 };
      },
    }),
  ];
}
