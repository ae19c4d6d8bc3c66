import type { Block, BlockList, BlockListQuery } from '../../contract/blocks.ts';
import type { IngressCreate, IngressList, Ingress as IngressRecord } from '../../contract/ingress.ts';
import type { RoomMute, RoomMuted } from '../../contract/participants.ts';
import type { RoomData, RoomDataSent } from '../../contract/room-data.ts';
import type { Room, RoomCreate, RoomList, RoomListQuery, RoomPatch } from '../../contract/rooms.ts';
import type { Token, TokenRequest } from '../../contract/tokens.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { roomPath, splitList, toQuery, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages, LARGEST_PAGE } from './pages.ts';

/** A room that was created or found, with the values of the response's two headers. */
export type RoomCreation = {
  readonly room: Room;
  /** Whether the room existed already. Then only its metadata was updated. */
  readonly existed: boolean;
  /** Settings of the request that the existing room did not adopt. */
  readonly ignored: readonly string[];
};

/** Page size at most 1000; without one, all rooms. */
export type ListRoomsOptions = QueryOptions<RoomListQuery>;

/** Open rooms of the media server, addressed by name: `client.rooms`. */
export class Rooms {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** POST /v1/rooms: creates a room, or returns an existing one, see RoomCreation. */
  async create(room: RoomCreate, options?: CallOptions): Promise<RoomCreation> {
    const line = { method: 'POST', path: '/v1/rooms' };
    const response = await this.#transport.send(line.method, line.path, withBody(room, options));
    return {
      room: this.#transport.parse(line, response),
      existed: response.headers['x-room-existed'] === 'true',
      ignored: splitList(response.headers['x-room-ignored']),
    };
  }

  /** GET /v1/rooms: returns all rooms, or a page of them with `limit`. */
  async list(options: ListRoomsOptions = {}): Promise<RoomList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.#transport.call('GET', `/v1/rooms${query}`, options);
  }

  /** Iterates over the rooms, page by page. */
  all(options: ListRoomsOptions = {}): AsyncGenerator<Room, void, undefined> {
    return itemsOfPages('/v1/rooms', options.cursor, async (cursor) => {
      const { rooms, nextCursor } = await this.list({ limit: LARGEST_PAGE, ...options, cursor });
      return { items: rooms, nextCursor };
    });
  }

  /** GET /v1/rooms/:roomId. */
  async get(room: string, options?: CallOptions): Promise<Room> {
    return await this.#transport.call('GET', roomPath(room), options);
  }

  /** PATCH /v1/rooms/:roomId: changes the metadata, which clients in the room receive at once. */
  async update(room: string, patch: RoomPatch, options?: CallOptions): Promise<Room> {
    return await this.#transport.call('PATCH', roomPath(room), withBody(patch, options));
  }

  /** POST /v1/rooms/:roomId/data: sends data to everyone in the room, or to some participants. */
  async send(room: string, message: RoomData, options?: CallOptions): Promise<RoomDataSent> {
    return await this.#transport.call('POST', roomPath(room, 'data'), withBody(message, options));
  }

  /** POST /v1/rooms/:roomId/mute: mutes the published tracks, and returns those that were not muted before. */
  async mute(room: string, what: RoomMute = {}, options?: CallOptions): Promise<RoomMuted> {
    return await this.#transport.call('POST', roomPath(room, 'mute'), withBody(what, options));
  }

  /** DELETE /v1/rooms/:roomId: closes the room and disconnects everyone. */
  async delete(room: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room), options);
  }
}

/** Page size at most 200; default 50. */
export type ListBlocksOptions = QueryOptions<BlockListQuery>;

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
      `${roomPath(room, 'blocks')}${toQuery({ limit, cursor })}`,
      options,
    );
  }

  /** Iterates over the blocks of the room, page by page. */
  all(room: string, options: ListBlocksOptions = {}): AsyncGenerator<Block, void, undefined> {
    return itemsOfPages(roomPath(room, 'blocks'), options.cursor, async (cursor) => {
      const { blocks, nextCursor } = await this.list(room, { limit: LARGEST_PAGE, ...options, cursor });
      return { items: blocks, nextCursor };
    });
  }

  /** DELETE /v1/rooms/:roomId/blocks/:identity: lets the identity in again. */
  async remove(room: string, identity: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room, 'blocks', identity), options);
  }
}

/** Streams into a room over RTMP or WHIP: `client.ingress`. */
export class Ingress {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * POST /v1/rooms/:roomId/ingress: creates an ingress. The room need not exist yet. The holder of the stream key can
   * publish.
   */
  async create(room: string, ingress: IngressCreate, options?: CallOptions): Promise<IngressRecord> {
    return await this.#transport.call('POST', roomPath(room, 'ingress'), withBody(ingress, options));
  }

  /** GET /v1/rooms/:roomId/ingress. */
  async list(room: string, options?: CallOptions): Promise<IngressList> {
    return await this.#transport.call('GET', roomPath(room, 'ingress'), options);
  }

  /** Iterates over the ingresses of the room. */
  all(room: string, options?: CallOptions): AsyncGenerator<IngressRecord, void, undefined> {
    return itemsOfPages(roomPath(room, 'ingress'), undefined, async () => {
      const { ingress } = await this.list(room, options);
      return { items: ingress, nextCursor: undefined };
    });
  }

  /** DELETE /v1/rooms/:roomId/ingress/:ingressId: deletes the ingress and ends its stream. */
  async delete(room: string, ingressId: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room, 'ingress', ingressId), options);
  }
}

/** Access tokens for participants: `client.tokens`. */
export class Tokens {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** POST /v1/token: issues a token with the grants of its role, and returns the media server's address. */
  async create(request: TokenRequest, options?: CallOptions): Promise<Token> {
    return await this.#transport.call('POST', '/v1/token', withBody(request, options));
  }

  /** POST /v1/token/refresh: like create, for a participant whose token is about to expire. */
  async refresh(request: TokenRequest, options?: CallOptions): Promise<Token> {
    return await this.#transport.call('POST', '/v1/token/refresh', withBody(request, options));
  }
}
