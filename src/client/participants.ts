import type { Participant, ParticipantList } from '../contract/participants.ts';
import type { CallOptions } from './client-options.ts';
import { itemsOfPages } from './pages.ts';
import { roomPath, withBody } from './request-parts.ts';
import type { Transport } from './transport.ts';

export type TrackTarget = { readonly room: string; readonly identity: string; readonly trackSid: string };

/** The people in a room, addressed by identity: `client.participants`. */
export class Participants {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** GET /v1/rooms/:roomId/participants. */
  async list(room: string, options?: CallOptions): Promise<ParticipantList> {
    return await this.#transport.call('GET', roomPath(room, 'participants'), options);
  }

  /** Each participant of the room. */
  all(room: string, options?: CallOptions): AsyncGenerator<Participant, void, undefined> {
    return itemsOfPages(roomPath(room, 'participants'), undefined, async () => {
      const { participants } = await this.list(room, options);
      return { items: participants, nextCursor: undefined };
    });
  }

  /** DELETE /v1/rooms/:roomId/participants/:participantId: disconnects the participant. */
  async remove(room: string, identity: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room, 'participants', identity), options);
  }

  /** POST /v1/rooms/:roomId/participants/:participantId/mute: one track, which only the participant can unmute. */
  async mute({ room, identity, trackSid }: TrackTarget, options?: CallOptions): Promise<void> {
    const path = roomPath(room, 'participants', identity, 'mute');
    await this.#transport.send('POST', path, withBody({ trackSid }, options));
  }
}
