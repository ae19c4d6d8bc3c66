import type { RoomMute, RoomMuted } from '../../contract/participants.ts';
import type { RoomData, RoomDataSent } from '../../contract/room-data.ts';
import type { Room, RoomCreate, RoomList, RoomListQuery, RoomPatch } from '../../contract/rooms.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { queryOf, roomPath, splitList, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages } from './pages.ts';

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

const ALL_PAGE_SIZE = 200;

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
    const query = queryOf({ limit: options.limit, cursor: options.cursor });
    return await this.#transport.call('GET', `/v1/rooms${query}`, options);
  }

  /** Iterates over the rooms, page by page. */
  all(options: ListRoomsOptions = {}): AsyncGenerator<Room, void, undefined> {
    return itemsOfPages('/v1/rooms', options.cursor, async (cursor) => {
      const { rooms, nextCursor } = await this.list({ limit: ALL_PAGE_SIZE, ...options, cursor });
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
