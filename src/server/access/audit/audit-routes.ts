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
      summary: 'Read who changed what',
      description:
        'Every request with a valid signature that changed something or was to: also those that were refused. Tokens are left out, unless the API key lacked the scope. Entries have no bodies. By its `requestId` a read or a token that failed is found too, for an hour.',
      security: 'signed',
      scopes: ['admin'],
      query: AuditListQuery,
      success: { 200: { description: 'Entries, newest first', schema: AuditListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query }) => ({ status: 200, body: await listAudit(deps, query) }),
    }),
  ];
}
