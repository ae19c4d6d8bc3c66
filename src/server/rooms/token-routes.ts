import { ROLES } from '../../contract/choices.ts';
import { TokenRequestSchema, TokenSchema } from '../../contract/tokens.ts';
import { exactMember } from '../platform/http/bodies/exact-numbers.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { type IssueTokenDeps, issueToken } from './issue-token.ts';
import { ROLE_GRANTS } from './role-grants.ts';

export function tokenRoutes(deps: IssueTokenDeps): readonly Route[] {
  const issue = ({ path, operationId, summary, description }: Issuing): Route =>
    defineRoute({
      method: 'POST',
      path,
      operationId,
      tag: 'tokens',
      summary,
      description,
      security: 'signed',
      scopes: ['rooms'],
      body: TokenRequestSchema,
      success: { 200: { description: 'A token for one participant of one room', schema: TokenSchema } },
      errors: ['participant-blocked', 'storage-unavailable'],
      handle: async ({ body, raw }) => {
        const metadata = exactMember(raw.body, 'metadata', body.metadata);
        return {
          status: 200,
          body: await issueToken(deps, metadata === undefined ? body : { ...body, metadata }),
        };
      },
    });
  return [
    issue({
      path: '/v1/token',
      operationId: 'createToken',
      summary: 'Issue an access token',
      description: `A LiveKit client connects to \`url\` with it. The first participant who joins opens the room. Everyone with a token can join until \`expiresAt\`, and stay.\n\n${roleTable()}`,
    }),
    issue({
      path: '/v1/token/refresh',
      operationId: 'refreshToken',
      summary: 'Renew an access token before it expires',
      description:
        'Has the same body and response as the request for the first token. The old token stays valid until it expires.',
    }),
  ];
}

type Issuing = Readonly<Record<'path' | 'operationId' | 'summary' | 'description', string>>;

/** Returns the table of the grants of each role, in Markdown. */
function roleTable(): string {
  const rows = ROLES.map((role) => {
    const { grants, canMuteOthers } = ROLE_GRANTS[role];
    const { canPublish, canSubscribe, canPublishData, roomAdmin } = grants;
    const marks = [canPublish, canSubscribe, canPublishData, roomAdmin, canMuteOthers];
    return `| \`${role}\` | ${marks.map((isGranted) => (isGranted ? 'yes' : 'no')).join(' | ')} |`;
  });
  return [
    '| role | canPublish | canSubscribe | canPublishData | roomAdmin | may mute others |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    'LiveKit has no grant to mute others: the token has it as its attribute `rtc.canMuteOthers`, and your back end mutes for them.',
  ].join('\n');
}
