import type {
  Block,
  BlockDuration,
  BlockList,
  BlockListQuery,
  RoomBlock,
  RoomBlockList,
} from '../../contract/blocks.ts';
import type {
  Participant,
  ParticipantList,
  ParticipantListQuery,
  ParticipantPatch,
  RoomMute,
  RoomMuted,
} from '../../contract/participants.ts';
import type { Plan, PlanList, PlanListQuery, PlanPut } from '../../contract/plans.ts';
import type {
  ClosedRoom,
  ClosedRoomList,
  ClosedRoomListQuery,
  Room,
  RoomCreate,
  RoomData,
  RoomDataSent,
  RoomList,
  RoomListQuery,
  RoomPatch,
} from '../../contract/rooms.ts';
import type { Token, TokenRequest } from '../../contract/tokens.ts';
import type { ForgottenWords } from '../../contract/words.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { itemsOfPages, splitList, toPath, toQuery, withBody } from '../transport/request-parts.ts';
import { Noun } from '../transport/transport.ts';

/** A room that was created or found, with the values of the response's two headers. */
export type RoomCreation = {
  readonly room: Room;
  /** Whether the room existed already. Then only its metadata was updated. */
  readonly existed: boolean;
  /** Settings of the request that the existing room did not adopt. */
  readonly ignored: readonly string[];
};

/** Page size at most 1,000; without it, all rooms, at most 10,000. */
export type ListRoomsOptions = QueryOptions<RoomListQuery>;

export type DeleteRoomOptions = CallOptions & {
  /** Keeps the room closed until it is created again. */
  readonly reopen?: 'never' | undefined;
  /** Keeps the room closed until this instant (ISO 8601), or until it is created again. */
  readonly until?: string | undefined;
};

/** Page size at most 200; default 50. */
export type ListClosedRoomsOptions = QueryOptions<ClosedRoomListQuery>;

/** Open rooms of the media server, addressed by name: `client.rooms`. */
export class Rooms extends Noun {
  /** POST /v1/rooms: creates a room, or returns an existing one, see RoomCreation. */
  async create(room: RoomCreate, options?: CallOptions): Promise<RoomCreation> {
    const request = { method: 'POST', path: '/v1/rooms' };
    const response = await this.transport.send(request.method, request.path, withBody(room, options));
    return {
      room: this.transport.parse(request, response),
      existed: response.headers['x-room-existed'] === 'true',
      ignored: splitList(response.headers['x-room-ignored']),
    };
  }

  /** GET /v1/rooms: returns all rooms, or a page of them with `limit`. */
  async list(options: ListRoomsOptions = {}): Promise<RoomList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.transport.call('GET', `/v1/rooms${query}`, options);
  }

  /** Iterates over the rooms, page by page. */
  all(options: ListRoomsOptions = {}): AsyncGenerator<Room, void, undefined> {
    return itemsOfPages({ path: '/v1/rooms', items: 'rooms' }, options, (page) => this.list(page));
  }

  /** GET /v1/rooms/:roomId. */
  async get(room: string, options?: CallOptions): Promise<Room> {
    return await this.transport.call('GET', toPath('rooms', room), options);
  }

  /** PATCH /v1/rooms/:roomId: changes the metadata, which clients in the room receive at once. */
  async update(room: string, patch: RoomPatch, options?: CallOptions): Promise<Room> {
    return await this.transport.call('PATCH', toPath('rooms', room), withBody(patch, options));
  }

  /** POST /v1/rooms/:roomId/data: sends data to everyone in the room, or to some participants. */
  async send(room: string, message: RoomData, options?: CallOptions): Promise<RoomDataSent> {
    return await this.transport.call('POST', toPath('rooms', room, 'data'), withBody(message, options));
  }

  /**
   * POST /v1/rooms/:roomId/mute: mutes the published tracks, and returns those that were not muted before. Repeats the
   * request for a room with more tracks than one request mutes.
   */
  async mute(room: string, what: RoomMute = {}, options?: CallOptions): Promise<RoomMuted> {
    const part: RoomMuted = await this.transport.call(
      'POST',
      toPath('rooms', room, 'mute'),
      withBody(what, options),
    );
    if (part.mutedTruncated !== true || part.muted.length === 0) return part;
    const { muted } = await this.mute(room, what, options);
    return { muted: [...part.muted, ...muted] };
  }

  /**
   * DELETE /v1/rooms/:roomId: closes the room and disconnects everyone. With `reopen` or `until` it stays closed, until that
   * instant or until `create`.
   */
  async delete(room: string, options: DeleteRoomOptions = {}): Promise<void> {
    const { reopen, until, ...rest } = options;
    await this.transport.send('DELETE', toPath('rooms', room) + toQuery({ reopen, until }), rest);
  }

  /** GET /v1/closed-rooms: returns a page of the rooms that are kept closed, ordered by name. */
  async listClosed(options: ListClosedRoomsOptions = {}): Promise<ClosedRoomList> {
    const { limit, cursor } = options;
    return await this.transport.call('GET', `/v1/closed-rooms${toQuery({ limit, cursor })}`, options);
  }

  /** Iterates over the rooms that are kept closed, page by page. */
  allClosed(options: ListClosedRoomsOptions = {}): AsyncGenerator<ClosedRoom, void, undefined> {
    return itemsOfPages({ path: '/v1/closed-rooms', items: 'closedRooms' }, options, (page) =>
      this.listClosed(page),
    );
  }
}

/** Page size at most 200; default 50. */
export type ListBlocksOptions = QueryOptions<BlockListQuery>;

/** The blocks of a room: `client.blocks`. `client.participants.remove()` with `block` creates a block. */
export class Blocks extends Noun {
  /** GET /v1/rooms/:roomId/blocks: returns a page of blocks, ordered by identity. */
  async list(room: string, options: ListBlocksOptions = {}): Promise<BlockList> {
    const { limit, cursor } = options;
    return await this.transport.call(
      'GET',
      `${toPath('rooms', room, 'blocks')}${toQuery({ limit, cursor })}`,
      options,
    );
  }

  /** Iterates over the blocks of the room, page by page. */
  all(room: string, options: ListBlocksOptions = {}): AsyncGenerator<Block, void, undefined> {
    return itemsOfPages({ path: toPath('rooms', room, 'blocks'), items: 'blocks' }, options, (page) =>
      this.list(room, page),
    );
  }

  /** GET /v1/blocks: returns a page of the blocks of all rooms, ordered by room and identity. */
  async listEverywhere(options: ListBlocksOptions = {}): Promise<RoomBlockList> {
    const { limit, cursor } = options;
    return await this.transport.call('GET', `/v1/blocks${toQuery({ limit, cursor })}`, options);
  }

  /** Iterates over the blocks of all rooms, page by page. */
  allEverywhere(options: ListBlocksOptions = {}): AsyncGenerator<RoomBlock, void, undefined> {
    return itemsOfPages({ path: '/v1/blocks', items: 'blocks' }, options, (page) =>
      this.listEverywhere(page),
    );
  }

  /** DELETE /v1/rooms/:roomId/blocks/:participantId: lets the identity in again. */
  async remove(room: string, identity: string, options?: CallOptions): Promise<void> {
    await this.transport.send('DELETE', toPath('rooms', room, 'blocks', identity), options);
  }
}

/** Page size at most 200; default 50. */
export type ListPlansOptions = QueryOptions<PlanListQuery>;

/** A plan that was stored, with the changed fields that open rooms do not take over. */
export type PlanChange = { readonly plan: Plan; readonly ignored: readonly string[] };

/** Settings for the room of a name, or for all rooms with a prefix: `client.plans`. */
export class Plans extends Noun {
  /** PUT /v1/plans/:planId: makes the plan, or replaces it. The same request again changes nothing. */
  async put(id: string, plan: PlanPut, options?: CallOptions): Promise<PlanChange> {
    const line = { method: 'PUT', path: toPath('plans', id) };
    const response = await this.transport.send(line.method, line.path, withBody(plan, options));
    const ignored = splitList(response.headers['x-room-ignored']);
    return { plan: this.transport.parse(line, response), ignored };
  }

  /** GET /v1/plans/:planId. */
  async get(id: string, options?: CallOptions): Promise<Plan> {
    return await this.transport.call('GET', toPath('plans', id), options);
  }

  /** GET /v1/plans: returns a page of plans, ordered by id. */
  async list(options: ListPlansOptions = {}): Promise<PlanList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.transport.call('GET', `/v1/plans${query}`, options);
  }

  /** Iterates over the plans, page by page. */
  all(options: ListPlansOptions = {}): AsyncGenerator<Plan, void, undefined> {
    return itemsOfPages({ path: '/v1/plans', items: 'plans' }, options, (page) => this.list(page));
  }

  /** DELETE /v1/plans/:planId: its open rooms stay open. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.transport.send('DELETE', toPath('plans', id), options);
  }
}

/** Access tokens for participants: `client.tokens`. */
export class Tokens extends Noun {
  /** POST /v1/token: issues a token with the grants of its role, and returns the media server's address. */
  async create(request: TokenRequest, options?: CallOptions): Promise<Token> {
    return await this.transport.call('POST', '/v1/token', withBody(request, options));
  }

  /** POST /v1/token/refresh: like create, for a participant whose token is about to expire. */
  async refresh(request: TokenRequest, options?: CallOptions): Promise<Token> {
    return await this.transport.call('POST', '/v1/token/refresh', withBody(request, options));
  }
}

export type TrackTarget = { readonly room: string; readonly identity: string; readonly trackSid: string };

export type ParticipantTarget = { readonly room: string; readonly identity: string };

export type RemoveParticipantOptions = CallOptions & {
  /** Also blocks the identity: for this many seconds, or `forever`. */
  readonly block?: BlockDuration | undefined;
};

/** Page size at most 1,000; without it, everyone, at most 10,000. */
export type ListParticipantsOptions = QueryOptions<ParticipantListQuery>;

/** Time limit: tens of thousands of segments take minutes on SQLite, which rewrites pages of the search index for each. */
const FORGET_TIMEOUT_MS = 600_000;

export type ForgetWordsOptions = CallOptions & {
  /** Deletes the participant's words in every room, not only in this one. */
  readonly allRooms?: boolean | undefined;
  /** Also erases the participant's identity, name and metadata wherever they are stored; needs the scope `admin`. */
  readonly everything?: boolean | undefined;
};

/** The participants of a room, addressed by identity: `client.participants`. */
export class Participants extends Noun {
  /** GET /v1/rooms/:roomId/participants: everyone, or with `limit` a page by identity. */
  async list(room: string, options: ListParticipantsOptions = {}): Promise<ParticipantList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.transport.call('GET', toPath('rooms', room, 'participants') + query, options);
  }

  /** Iterates over the participants of the room by identity, page by page. */
  all(room: string, options: ListParticipantsOptions = {}): AsyncGenerator<Participant, void, undefined> {
    return itemsOfPages(
      { path: toPath('rooms', room, 'participants'), items: 'participants' },
      options,
      (page) => this.list(room, page),
    );
  }

  /**
   * DELETE /v1/rooms/:roomId/participants/:participantId: disconnects the participant. With `block` an absent participant is
   * no error: `removed` is false then.
   */
  async remove(
    room: string,
    identity: string,
    options: RemoveParticipantOptions = {},
  ): Promise<{ readonly removed: boolean }> {
    const { block, ...rest } = options;
    const path = `${toPath('rooms', room, 'participants', identity)}${toQuery({ block })}`;
    const { headers } = await this.transport.send('DELETE', path, rest);
    return { removed: headers['x-participant-removed'] !== 'false' };
  }

  /**
   * DELETE /v1/rooms/:roomId/participants/:participantId/words: deletes the participant's words from every transcription of
   * the room, or with `allRooms` of every room; with `everything` also all other traces. The participant need not be in the
   * room. Waits up to ten minutes, unless `timeoutMs` is given.
   */
  async forgetWords(
    room: string,
    identity: string,
    options: ForgetWordsOptions = {},
  ): Promise<ForgottenWords> {
    const { allRooms, everything, timeoutMs = FORGET_TIMEOUT_MS, ...rest } = options;
    const query = toQuery({
      allRooms: allRooms === true ? 'true' : undefined,
      everything: everything === true ? 'true' : undefined,
    });
    const path = toPath('rooms', room, 'participants', identity, 'words') + query;
    return await this.transport.call('DELETE', path, { ...rest, timeoutMs });
  }

  /**
   * PATCH /v1/rooms/:roomId/participants/:participantId: changes name, metadata, attributes or role of a participant in the
   * room.
   */
  async update(
    { room, identity }: ParticipantTarget,
    patch: ParticipantPatch,
    options?: CallOptions,
  ): Promise<Participant> {
    const path = toPath('rooms', room, 'participants', identity);
    return await this.transport.call('PATCH', path, withBody(patch, options));
  }

  /** POST /v1/rooms/:roomId/participants/:participantId/mute: mutes one track, which only the participant can unmute. */
  async mute({ room, identity, trackSid }: TrackTarget, options?: CallOptions): Promise<void> {
    const path = toPath('rooms', room, 'participants', identity, 'mute');
    await this.transport.send('POST', path, withBody({ trackSid }, options));
  }

  /**
   * The same endpoint with `muted: false`: unmutes a track. 409 when the media server lets only participants unmute
   * themselves.
   */
  async unmute({ room, identity, trackSid }: TrackTarget, options?: CallOptions): Promise<void> {
    const path = toPath('rooms', room, 'participants', identity, 'mute');
    await this.transport.send('POST', path, withBody({ trackSid, muted: false }, options));
  }
}
