import type { AdmittedList, AdmittedPerson, WaitingList, WaitingPerson } from '../../contract/waiting.ts';
import type { CallOptions } from '../client-options.ts';
import { toPath } from '../transport/request-parts.ts';
import { Noun } from '../transport/transport.ts';

export type WaitingTarget = { readonly room: string; readonly identity: string };

/** The people who wait for a room with a lobby, addressed by identity: `client.waiting`. */
export class Waiting extends Noun {
  /** GET /v1/rooms/:roomId/waiting: everybody who waits, the longest first. */
  async list(room: string, options?: CallOptions): Promise<WaitingList> {
    return await this.transport.call('GET', toPath('rooms', room, 'waiting'), options);
  }

  /** Iterates over the people who wait. */
  async *all(room: string, options?: CallOptions): AsyncGenerator<WaitingPerson, void, undefined> {
    yield* (await this.list(room, options)).waiting;
  }

  /** POST /v1/rooms/:roomId/waiting/:participantId/admit: the person gets the token that is returned. */
  async admit({ room, identity }: WaitingTarget, options?: CallOptions): Promise<AdmittedPerson> {
    return await this.transport.call('POST', toPath('rooms', room, 'waiting', identity, 'admit'), options);
  }

  /** POST /v1/rooms/:roomId/waiting/:participantId/deny: disconnects the person. */
  async deny({ room, identity }: WaitingTarget, options?: CallOptions): Promise<void> {
    await this.transport.send('POST', toPath('rooms', room, 'waiting', identity, 'deny'), options);
  }

  /** POST /v1/rooms/:roomId/waiting/admit-all. Repeats the request if more people wait than one request admits. */
  async admitAll(room: string, options?: CallOptions): Promise<AdmittedList> {
    const part: AdmittedList = await this.transport.call(
      'POST',
      toPath('rooms', room, 'waiting', 'admit-all'),
      options,
    );
    if (part.admittedTruncated !== true || part.admitted.length === 0) return part;
    const { admitted } = await this.admitAll(room, options);
    return { admitted: [...part.admitted, ...admitted] };
  }
}
