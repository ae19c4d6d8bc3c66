import type { AuditEntry, AuditList, AuditListQuery } from '../../contract/audit.ts';
import type { QueryOptions } from '../client-options.ts';
import { queryOf } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages } from './pages.ts';

/** Page size at most 200; default 50. `since` and `until` are ISO 8601. */
export type ListAuditOptions = QueryOptions<AuditListQuery>;

const ALL_PAGE_SIZE = 200;

/** The audit log: `client.audit`. For keys with the scope admin. */
export class Audit {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** GET /v1/audit: returns a page of entries, the newest first. */
  async list(options: ListAuditOptions = {}): Promise<AuditList> {
    const { key, room, since, until, result, requestId, limit, cursor } = options;
    const query = queryOf({ key, room, since, until, result, requestId, limit, cursor });
    return await this.#transport.call('GET', `/v1/audit${query}`, options);
  }

  /** Iterates over the entries, the newest first, page by page. */
  all(options: ListAuditOptions = {}): AsyncGenerator<AuditEntry, void, undefined> {
    return itemsOfPages('/v1/audit', options.cursor, async (cursor) => {
      const { entries, nextCursor } = await this.list({ limit: ALL_PAGE_SIZE, ...options, cursor });
      return { items: entries, nextCursor };
    });
  }
}
