import type {
  IngressCreate,
  IngressList,
  IngressListQuery,
  Ingress as IngressRecord,
} from '../../contract/ingress.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { itemsOfPages, LARGEST_PAGE, roomPath, toQuery, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';

/** Page size at most 1,000; without it, all, at most 10,000. */
export type ListIngressOptions = QueryOptions<IngressListQuery>;

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

  /** GET /v1/rooms/:roomId/ingress: all of them, or with `limit` a page by id. */
  async list(room: string, options: ListIngressOptions = {}): Promise<IngressList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.#transport.call('GET', roomPath(room, 'ingress') + query, options);
  }

  /** Iterates over the ingresses of the room by id, page by page. */
  all(room: string, options: ListIngressOptions = {}): AsyncGenerator<IngressRecord, void, undefined> {
    return itemsOfPages(roomPath(room, 'ingress'), options.cursor, async (cursor) => {
      const { ingress, nextCursor } = await this.list(room, { limit: LARGEST_PAGE, ...options, cursor });
      return { items: ingress, nextCursor };
    });
  }

  /** GET /v1/ingress: those of all rooms, or with `limit` a page by id. */
  async listEverywhere(options: ListIngressOptions = {}): Promise<IngressList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.#transport.call('GET', `/v1/ingress${query}`, options);
  }

  /** Iterates over the ingresses of all rooms by id, page by page. */
  allEverywhere(options: ListIngressOptions = {}): AsyncGenerator<IngressRecord, void, undefined> {
    return itemsOfPages('/v1/ingress', options.cursor, async (cursor) => {
      const { ingress, nextCursor } = await this.listEverywhere({ limit: LARGEST_PAGE, ...options, cursor });
      return { items: ingress, nextCursor };
    });
  }

  /** DELETE /v1/rooms/:roomId/ingress/:ingressId: deletes the ingress and ends its stream. */
  async delete(room: string, ingressId: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room, 'ingress', ingressId), options);
  }
}
