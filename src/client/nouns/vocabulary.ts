import type { Vocabulary as WireVocabulary } from '../../contract/vocabulary.ts';
import type { CallOptions } from '../client-options.ts';
import { roomPath, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';

/** Names and terms that are likely to be said in a room: `client.vocabulary`. */
export class Vocabulary {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** GET /v1/rooms/:roomId/vocabulary: returns an empty list when the room has none. */
  async get(room: string, options?: CallOptions): Promise<WireVocabulary> {
    return await this.#transport.call('GET', roomPath(room, 'vocabulary'), options);
  }

  /** PUT /v1/rooms/:roomId/vocabulary: replaces the vocabulary. Returns the terms as they are stored. */
  async set(room: string, terms: readonly string[], options?: CallOptions): Promise<WireVocabulary> {
    return await this.#transport.call('PUT', roomPath(room, 'vocabulary'), withBody({ terms }, options));
  }

  /** DELETE /v1/rooms/:roomId/vocabulary. */
  async delete(room: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room, 'vocabulary'), options);
  }
}
