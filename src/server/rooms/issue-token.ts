import { ServiceError } from '../../contract/errors.ts';
import { MAX_METADATA_BYTES } from '../../contract/names.ts';
import type { Token, TokenRequest } from '../../contract/tokens.ts';
import type { Clock } from '../platform/clock.ts';
import type { TokenSigner } from '../platform/livekit/token-signer.ts';
import { type BlockDeps, ensureNotBlocked } from './blocks.ts';
import { ROLE_GRANTS } from './role-grants.ts';

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
  const { grants, canMuteOthers } = ROLE_GRANTS[request.role];
  const issuedAt = Math.floor(deps.clock.now() / 1000);
  const expiresAt = issuedAt + deps.tokenTtlSeconds;
  const token = await deps.tokenSigner.sign({
    room: request.roomId,
    identity: request.userId,
    name: request.name,
    metadata: metadataText(request.metadata),
    attributes: { 'rtc.role': request.role, 'rtc.canMuteOthers': String(canMuteOthers) },
    grants,
    issuedAt,
    expiresAt,
  });
  return { token, url: deps.mediaUrl, expiresAt: new Date(expiresAt * 1000).toISOString() };
}

function metadataText(metadata: TokenRequest['metadata']): string | undefined {
  if (metadata === undefined) return undefined;
  const text = stringify(metadata);
  if (text !== undefined && Buffer.byteLength(text) <= MAX_METADATA_BYTES) return text;
  const detail =
    text === undefined ? 'is nested too deeply' : `must be at most ${MAX_METADATA_BYTES} bytes as JSON`;
  throw new ServiceError('invalid-request', `#/metadata ${detail}.`, {
    errors: [{ pointer: '#/metadata', detail }],
  });
}

/** Undefined when the value is nested so deeply that JSON.stringify runs out of stack; JSON.parse does not. */
function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
