import { AuditListQuery, AuditListSchema } from '../../../contract/audit.ts';
import { defineRoute, type Route } from '../../platform/http/route.ts';
import { type AuditDeps, listAudit } from './list-audit.ts';

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
