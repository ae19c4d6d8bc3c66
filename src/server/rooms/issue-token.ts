import { ServiceError } from '../../contract/errors.ts';
import type { Hint } from '../../contract/hint.ts';
import type { Token, TokenRequest } from '../../contract/tokens.ts';
import type { Clock } from '../platform/clock.ts';
import type { ParticipantGrants, TokenSigner } from '../platform/livekit/token-signer.ts';
import type { FindBlock } from './blocks/block-cache.ts';
import { ensureNotBlocked } from './blocks/blocks.ts';
import { metadataText } from './metadata-text.ts';
import { attributesOf, ROLE_GRANTS } from './role-grants.ts';

export type IssueTokenDeps = {
  readonly findBlock: FindBlock;
  readonly clock: Clock;
  readonly tokenSigner: TokenSigner;
  readonly tokenTtlSeconds: number;
  /** Maximum lifetime that a request may ask for. */
  readonly maxTokenTtlSeconds: number;
  /** WebSocket URL that clients connect to. */
  readonly mediaUrl: string;
};

/**
 * Issues an access token for one participant of one room. Throws participant-blocked, and invalid-request for metadata over
 * LiveKit's limit, a lifetime over ours, and sources of a role that does not publish.
 */
export async function issueToken(deps: IssueTokenDeps, request: TokenRequest): Promise<Token> {
  const check = ensureNotBlocked(deps.findBlock, { room: request.roomId, identity: request.userId });
  if (check !== undefined) await check;
  const { metadata, role } = request;
  const issuedAt = Math.floor(deps.clock.now() / 1000);
  const expiresAt = issuedAt + lifetime(deps, request);
  const token = deps.tokenSigner.sign({
    room: request.roomId,
    identity: request.userId,
    name: request.name,
    metadata: metadata === undefined ? undefined : metadataText(metadata),
    attributes: attributesOf(role),
    grants: grantsOf(request),
    issuedAt,
    expiresAt,
  });
  return { token, url: deps.mediaUrl, expiresAt: new Date(expiresAt * 1000).toISOString() };
}

function lifetime({ tokenTtlSeconds, maxTokenTtlSeconds }: IssueTokenDeps, { ttl }: TokenRequest): number {
  if (ttl === undefined) return tokenTtlSeconds;
  if (ttl > maxTokenTtlSeconds) {
    throw fieldError('#/ttl', `must be at most ${maxTokenTtlSeconds}`, {
      text: 'ask for less, or raise MAX_TOKEN_TTL of the service',
    });
  }
  return ttl;
}

function grantsOf({ role, canPublishSources }: TokenRequest): ParticipantGrants {
  const { grants } = ROLE_GRANTS[role];
  if (canPublishSources === undefined) return grants;
  if (!grants.canPublish)
    throw fieldError('#/canPublishSources', `must be left out: a ${role} does not publish`);
  return { ...grants, canPublishSources };
}

function fieldError(pointer: string, detail: string, hint?: Hint): ServiceError {
  return new ServiceError('invalid-request', `${pointer} ${detail}.`, {
    errors: [{ pointer, detail }],
    ...(hint === undefined ? {} : { hint }),
  });
}
