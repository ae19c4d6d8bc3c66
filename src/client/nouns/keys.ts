import type { AuditEntry, AuditList, AuditListQuery } from '../../contract/audit.ts';
import type { Key, KeyCreate, KeyList, KeyListQuery, OwnKey } from '../../contract/keys.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { itemsOfPages, toPath, toQuery, withBody } from '../transport/request-parts.ts';
import { Noun } from '../transport/transport.ts';

/** Page size at most 200; default 50. */
export type ListKeysOptions = QueryOptions<KeyListQuery>;

/** API keys beside the root key: `client.keys`. All methods except `self` need the root key. */
export class Keys extends Noun {
  /** POST /v1/keys: creates a key. Only this response contains the secret. */
  async create(key: KeyCreate, options?: CallOptions): Promise<Key> {
    return await this.transport.call('POST', '/v1/keys', withBody(key, options));
  }

  /** GET /v1/keys: returns a page of keys, the oldest first, including expired ones. */
  async list(options: ListKeysOptions = {}): Promise<KeyList> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.transport.call('GET', `/v1/keys${query}`, options);
  }

  /** Iterates over the keys, page by page. */
  all(options: ListKeysOptions = {}): AsyncGenerator<Key, void, undefined> {
    return itemsOfPages({ path: '/v1/keys', items: 'keys' }, options, (page) => this.list(page));
  }

  /** GET /v1/keys/:keyId. */
  async get(id: string, options?: CallOptions): Promise<Key> {
    return await this.transport.call('GET', toPath('keys', id), options);
  }

  /** GET /v1/keys/self: returns the key that this client signs with, and its scopes. */
  async self(options?: CallOptions): Promise<OwnKey> {
    return await this.transport.call('GET', '/v1/keys/self', options);
  }

  /** DELETE /v1/keys/:keyId: revokes the key. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    await this.transport.send('DELETE', toPath('keys', id), options);
  }
}

/** Page size at most 200; default 50. `since` and `until` are ISO 8601. */
export type ListAuditOptions = QueryOptions<Omit<AuditListQuery, 'key' | 'room'>>;

/** The audit log: `client.audit`. For keys with the scope admin. */
export class Audit extends Noun {
  /** GET /v1/audit: returns a page of entries, the newest first. */
  async list(options: ListAuditOptions = {}): Promise<AuditList> {
    const { keyId, roomId, since, until, result, requestId, limit, cursor } = options;
    const query = toQuery({ keyId, roomId, since, until, result, requestId, limit, cursor });
    return await this.transport.call('GET', `/v1/audit${query}`, options);
  }

  /** Iterates over the entries, the newest first, page by page. */
  all(options: ListAuditOptions = {}): AsyncGenerator<AuditEntry, void, undefined> {
    return itemsOfPages({ path: '/v1/audit', items: 'entries' }, options, (page) => this.list(page));
  }
}
