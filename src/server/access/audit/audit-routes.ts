import { type AuditEntry, type AuditList, AuditListQuery, AuditListSchema } from '../../../contract/audit.ts';
import type { AuditResult } from '../../../contract/choices.ts';
import { pageReader } from '../../platform/http/read-page.ts';
import { chooseRenamed } from '../../platform/http/renamed-parameter.ts';
import { defineRoute, type Route } from '../../platform/http/route.ts';
import type { AccessStores, AuditRecord } from '../store.ts';
import type { AuditWriter } from './audit-writer.ts';

export function auditRoutes(deps: AuditDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/audit',
      operationId: 'listAudit',
      tag: 'audit',
      summary: 'List who changed what',
      description:
        'Lists every request with a valid signature that changed something or tried to, refused ones too. Requests for tokens are not listed, unless the API key lacked the scope. Entries have no bodies. Failed reads and tokens are found by their `requestId` for an hour.',
      security: 'signed',
      scopes: ['admin'],
      query: AuditListQuery,
      success: { 200: { description: 'Entries, newest first', schema: AuditListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query }) => ({ status: 200, body: await listAudit(deps, query) }),
    }),
  ];
}

export type AuditDeps = {
  readonly store: Pick<AccessStores, 'audit'>;
  readonly auditWriter: Pick<AuditWriter, 'flush'>;
};

const DEFAULT_LIMIT = 50;
const readPage = pageReader('audit');

/** Lists audit entries, the newest first. Requests to which this instance has responded are included. */
async function listAudit({ store, auditWriter }: AuditDeps, query: AuditListQuery): Promise<AuditList> {
  const { cursor, limit = DEFAULT_LIMIT, since, until, result, requestId } = query;
  const key = chooseRenamed(query, { name: 'keyId', earlier: 'key' });
  const room = chooseRenamed(query, { name: 'roomId', earlier: 'room' });
  const { rows, nextCursor } = await readPage({ cursor, limit }, async (page) => {
    await auditWriter.flush();
    const records = await store.audit.list({
      ...{ key, room, result, requestId },
      since: since === undefined ? undefined : Date.parse(since),
      until: until === undefined ? undefined : Date.parse(until),
      before: page.after && { occurredAt: page.after.createdAt, id: page.after.id },
      limit: page.limit,
    });
    return records.map((record) => ({ createdAt: record.occurredAt, id: record.id, record }));
  });
  return { entries: rows.map(({ record }) => toEntry(record)), nextCursor };
}

function toEntry({
  room: _room,
  expiresAt: _expiresAt,
  occurredAt,
  status,
  ids,
  ...rest
}: AuditRecord): AuditEntry {
  return {
    ...rest,
    ids: { ...ids },
    occurredAt: new Date(occurredAt).toISOString(),
    status,
    result: toResult(status),
  };
}

function toResult(status: number): AuditResult {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'done';
}
