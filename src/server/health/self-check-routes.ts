import { SelfCheckListSchema } from '../../contract/self-check.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { checkSelf, type SelfCheckDeps } from './check-self.ts';

export function selfCheckRoutes(deps: SelfCheckDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/self-check',
      operationId: 'checkSelf',
      tag: 'service',
      summary: 'Check the systems behind the service, as rtc doctor does',
      description:
        'Writes a small file where recordings go, reads it back, fetches it by its pre-signed URL and deletes it. A fault is a result, not an error.',
      security: 'signed',
      scopes: ['admin'],
      success: { 200: { description: 'What was found', schema: SelfCheckListSchema } },
      errors: [],
      handle: async () => ({ status: 200, body: { checks: [...(await checkSelf(deps))] } }),
    }),
  ];
}
