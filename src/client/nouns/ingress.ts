import type { IngressCreate, IngressList, Ingress as IngressRecord } from '../../contract/ingress.ts';
import type { CallOptions } from '../client-options.ts';
import { roomPath, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages } from './pages.ts';

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
