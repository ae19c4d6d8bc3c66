import type { Key, KeyCreate, KeyList, KeyListQuery, OwnKey } from '../../contract/keys.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { keyPath, queryOf, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages } from './pages.ts';

/** Page size at most 200; default 50. */
export type ListKeysOptions = QueryOptions<KeyListQuery>;

const ALL_PAGE_SIZE = 200;

/** API keys beside the root key: `client.keys`. All but `self` are for the root key. */
export class Keys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** POST /v1/keys; only this response ever holds the secret. */
  async create(key: KeyCreate, options?: CallOptions): Promise<Key> {
    return await this.#transport.call('POST', '/v1/keys', withBody(key, options));
  }

  /** GET /v1/keys: a page, oldest first; those that have ended too. */
  async list(options: ListKeysOptions = {}): Promise<KeyList> {
    const query = queryOf({ limit: options.limit, cursor: options.cursor });
    return await this.#transport.call('GET', `/v1/keys${query}`, options);
  }

  /** Each key, page by page. */
  all(options: ListKeysOptions = {}): AsyncGenerator<Key, void, undefined> {
    return itemsOfPages('/v1/keys', options.cursor, async (cursor) => {
      const { keys, nextCursor } = await this.list({ limit: ALL_PAGE_SIZE, ...options, cursor });
      return { items: keys, nextCursor };
    });
  }

  /** GET /v1/keys/:keyId. */
  async get(id: string, options?: CallOptions): Promise<Key> {
    return await this.#transport.call('GET', keyPath(id), options);
  }

  /** GET /v1/keys/self: the key that this client signs with, and what it may do. */
  async self(options?: CallOptions): Promise<OwnKey> {
    return await this.#transport.call('GET', '/v1/keys/self', options);
  }

  /** DELETE /v1/keys/:keyId: it is accepted no more. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', keyPath(id), options);
  }
}
