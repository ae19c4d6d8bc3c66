import type { BlockDuration } from '../../contract/blocks.ts';
import type {
  Participant,
  ParticipantList,
  ParticipantListQuery,
  ParticipantPatch,
} from '../../contract/participants.ts';
import type { ForgottenWords } from '../../contract/words.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { roomPath, toQuery, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages } from './pages.ts';

export type TrackTarget = { readonly room: string; readonly identity: string; readonly trackSid: string };

export type ParticipantTarget = { readonly room: string; readonly identity: string };

export type RemoveParticipantOptions = CallOptions & {
  /** Also blocks the identity: for this many seconds, or `forever`. */
  readonly block?: BlockDuration | undefined;
};

/** Page size at most 1,000; without it, everyone. */
export type ListParticipantsOptions = QueryOptions<ParticipantListQuery>;

const ALL_PAGE_SIZE = 200;

/** Time limit: tens of thousands of segments take minutes on SQLite, which rewrites pages of the search index for each. */
const FORGET_TIMEOUT_MS = 600_000;

export type ForgetWordsOptions = CallOptions & {
  /** Deletes the participant's words in every room, not only in this one. */
  readonly allRooms?: boolean | undefined;
};

/** The participants of a room, addressed by identity: `client.participants`. */
export class Participants {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** GET /v1/rooms/:roomId/participants: everyone, or with `limit` a page by identity. */
  async list(room: string, options: ListParticipantsOptions = {}): Promise<ParticipantList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.#transport.call('GET', roomPath(room, 'participants') + query, options);
  }

  /** Iterates over the participants of the room by identity, page by page. */
  all(room: string, options: ListParticipantsOptions = {}): AsyncGenerator<Participant, void, undefined> {
    return itemsOfPages(roomPath(room, 'participants'), options.cursor, async (cursor) => {
      const page = await this.list(room, { limit: ALL_PAGE_SIZE, ...options, cursor });
      return { items: page.participants, nextCursor: page.nextCursor };
    });
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
    const path = `${roomPath(room, 'participants', identity)}${toQuery({ block })}`;
    const { headers } = await this.#transport.send('DELETE', path, rest);
    return { removed: headers['x-participant-removed'] !== 'false' };
  }

  /**
   * DELETE /v1/rooms/:roomId/participants/:participantId/words: deletes the participant's words from every transcription of
   * the room, or with `allRooms` of every room. The participant need not be in the room. Waits up to ten minutes, unless
   * `timeoutMs` is given.
   */
  async forgetWords(
    room: string,
    identity: string,
    options: ForgetWordsOptions = {},
  ): Promise<ForgottenWords> {
    const { allRooms, timeoutMs = FORGET_TIMEOUT_MS, ...rest } = options;
    const query = toQuery({ allRooms: allRooms === true ? 'true' : undefined });
    const path = roomPath(room, 'participants', identity, 'words') + query;
    return await this.#transport.call('DELETE', path, { ...rest, timeoutMs });
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
    const path = roomPath(room, 'participants', identity);
    return await this.#transport.call('PATCH', path, withBody(patch, options));
  }

  /** POST /v1/rooms/:roomId/participants/:participantId/mute: mutes one track, which only the participant can unmute. */
  async mute({ room, identity, trackSid }: TrackTarget, options?: CallOptions): Promise<void> {
    const path = roomPath(room, 'participants', identity, 'mute');
    await this.#transport.send('POST', path, withBody({ trackSid }, options));
  }

  /**
   * The same endpoint with `muted: false`: unmutes a track. 409 when the media server lets only participants unmute
   * themselves.
   */
  async unmute({ room, identity, trackSid }: TrackTarget, options?: CallOptions): Promise<void> {
    const path = roomPath(room, 'participants', identity, 'mute');
    await this.#transport.send('POST', path, withBody({ trackSid, muted: false }, options));
  }
}
