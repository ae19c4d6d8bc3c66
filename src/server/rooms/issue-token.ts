import type { Token, TokenRequest } from '../../contract/tokens.ts';
import type { Clock } from '../platform/clock.ts';
import type { TokenSigner } from '../platform/livekit/token-signer.ts';
import { type BlockDeps, ensureNotBlocked } from './blocks/blocks.ts';
import { metadataText } from './metadata-text.ts';
import { attributesOf, ROLE_GRANTS } from './role-grants.ts';

export type IssueTokenDeps = BlockDeps & {
  readonly clock: Clock;
  readonly tokenSigner: TokenSigner;
  readonly tokenTtlSeconds: number;
  /** WebSocket URL that clients connect to. */
  readonly mediaUrl: string;
};

/**
 * An access token for one participant of one room. Throws invalid-request for metadata over LiveKit's limit, and
 * participant-blocked.
 */
export async function issueToken(deps: IssueTokenDeps, request: TokenRequest): Promise<Token> {
  await ensureNotBlocked(deps, { room: request.roomId, identity: request.userId });
  const { metadata, role } = request;
  const issuedAt = Math.floor(deps.clock.now() / 1000);
  const expiresAt = issuedAt + deps.tokenTtlSeconds;
  const token = await deps.tokenSigner.sign({
    room: request.roomId,
    identity: request.userId,
    name: request.name,
    metadata: metadata === undefined ? undefined : metadataText(metadata),
    attributes: attributesOf(role),
    grants: ROLE_GRANTS[role].grants,
    issuedAt,
    expiresAt,
  });
  return { token, url: deps.mediaUrl, expiresAt: new Date(expiresAt * 1000).toISOString() };
}
