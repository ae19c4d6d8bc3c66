import { createJwtSigner } from './sign-jwt.ts';
import type { TokenClaims, TokenSigner } from './token-signer.ts';

/**
 * Signs LiveKit access tokens: JWT with HS256 and the claims of
 * https://docs.livekit.io/home/get-started/authentication/. The SDK's signer uses its own clock.
 */
export function createTokenSigner(apiKey: string, apiSecret: string): TokenSigner {
  const signJwt = createJwtSigner(apiSecret);
  return { sign: async (claims) => signJwt(payload(apiKey, claims)) };
}

function payload(apiKey: string, claims: TokenClaims): Readonly<Record<string, unknown>> {
  return {
    iss: apiKey,
    sub: claims.identity,
    nbf: claims.issuedAt,
    iat: claims.issuedAt,
    exp: claims.expiresAt,
    name: claims.name,
    ...(claims.kind === undefined ? {} : { kind: claims.kind }),
    ...(claims.metadata === undefined ? {} : { metadata: claims.metadata }),
    attributes: claims.attributes,
    video: { room: claims.room, roomJoin: true, ...claims.grants },
  };
}
