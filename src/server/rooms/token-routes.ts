import { TokenRequestSchema, TokenSchema } from '../../contract/tokens.ts';
import { exactMember } from '../platform/http/exact-numbers.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { type IssueTokenDeps, issueToken } from './issue-token.ts';

export function tokenRoutes(deps: IssueTokenDeps): readonly Route[] {
  const issue = (path: string, operationId: string, summary: string): Route =>
    defineRoute({
      method: 'POST',
      path,
      operationId,
      tag: 'tokens',
      summary,
      security: 'signed',
      body: TokenRequestSchema,
      success: { 200: { description: 'A token for one participant of one room', schema: TokenSchema } },
      errors: [],
      handle: async ({ body, raw }) => {
        const metadata = exactMember(raw.body, 'metadata', body.metadata);
        return {
          status: 200,
          body: await issueToken(deps, metadata === undefined ? body : { ...body, metadata }),
        };
      },
    });
  return [
    issue('/v1/token', 'createToken', 'Issue an access token'),
    issue('/v1/token/refresh', 'refreshToken', 'Issue an access token anew, before the old one runs out'),
  ];
}
