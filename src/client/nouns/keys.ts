import type { AuditEntry, AuditList, AuditListQuery } from '../../contract/audit.ts';
import type { Key, KeyCreate, KeyList, KeyListQuery, OwnKey } from '../../contract/keys.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { itemsOfPages, LARGEST_PAGE, toPath, toQuery, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';

/** Page size at most 200; default 50. */
export type ListKeysOptions = QueryOptions<KeyListQuery>;

/** API keys beside the root key: `client.keys`. All methods except `self` need the root key. */
export class Keys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** POST /v1/keys: creates a key. Only this response contains the secret. */
  async create(key: KeyCreate, options?: CallOptions): Promise<Key> {
    return await this.#transport.call('POST', '/v1/keys', withBody(key, options));
  }

  /** GET /v1/keys: returns a page of keys, the oldest first, including expired ones. */
  async list(options: ListKeysOptions = {}): Promise<KeyList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.#transport.call('GET', `/v1/keys${query}`, options);
  }

  /** Iterates over the keys, page by page. */
  all(options: ListKeysOptions = {}): AsyncGenerator<Key, void, undefined> {
    return itemsOfPages('/v1/keys', options.cursor, async (cursor) => {
      const { keys, nextCursor } = await this.list({ limit: LARGEST_PAGE, ...options, cursor });
      return { items: keys, nextCursor };
    });
  }

  /** GET /v1/keys/:keyId. */
  async get(id: string, options?: CallOptions): Promise<Key> {
    return await this.#transport.call('GET', toPath('keys', id), options);
  }

  /** GET /v1/keys/self: returns the key that this client signs with, and its scopes. */
  async self(options?: CallOptions): Promise<OwnKey> {
    return await this.#transport.call('GET', '/v1/keys/self', options);
  }

  /** DELETE /v1/keys/:keyId: revokes the key. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', toPath('keys', id), options);
  }
}

/** Page size at most 200; default 50. `since` and `until` are ISO 8601. */
export type ListAuditOptions = QueryOptions<Omit<AuditListQuery, 'key' | 'room'>>;

/** The audit log: `client.audit`. For keys with the scope admin. */
export class Audit {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** GET /v1/audit: returns a page of entries, the newest first. */
  async list(options: ListAuditOptions = {}): Promise<AuditList> {
    const { keyId, roomId, since, until, result, requestId, limit, cursor } = options;
    const query = toQuery({ keyId, roomId, since, until, result, requestId, limit, cursor });
    return await this.#transport.call('GET', `/v1/audit${query}`, options);
  }

  /** Iterates over the entries, the newest first, page by page. */
  all(options: ListAuditOptions = {}): AsyncGenerator<AuditEntry, void, undefined> {
    return itemsOfPages('/v1/audit', options.cursor, async (cursor) => {
      const { entries, nextCursor } = await this.list({ limit: LARGEST_PAGE, ...options, cursor });
      return { items: entries, nextCursor };
    });
  }
}
