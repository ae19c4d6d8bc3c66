import type { Block, BlockList, BlockListQuery } from '../../contract/blocks.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { queryOf, roomPath } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages } from './pages.ts';

/** Page size at most 200; default 50. */
export type ListBlocksOptions = QueryOptions<BlockListQuery>;

const ALL_PAGE_SIZE = 200;

/** The blocks of a room: `client.blocks`. `client.participants.remove()` with `block` creates a block. */
export class Blocks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** GET /v1/rooms/:roomId/blocks: returns a page of blocks, ordered by identity. */
  async list(room: string, options: ListBlocksOptions = {}): Promise<BlockList> {
    const { limit, cursor } = options;
    return await this.#transport.call(
      'GET',
      `${roomPath(room, 'blocks')}${queryOf({ limit, cursor })}`,
      options,
    );
  }

  /** Iterates over the blocks of the room, page by page. */
  all(room: string, options: ListBlocksOptions = {}): AsyncGenerator<Block, void, undefined> {
    return itemsOfPages(roomPath(room, 'blocks'), options.cursor, async (cursor) => {
      const { blocks, nextCursor } = await this.list(room, { limit: ALL_PAGE_SIZE, ...options, cursor });
      return { items: blocks, nextCursor };
    });
  }

  /** DELETE /v1/rooms/:roomId/blocks/:identity: lets the identity in again. */
  async remove(room: string, identity: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room, 'blocks', identity), options);
  }
}
