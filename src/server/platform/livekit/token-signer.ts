import { createHmacSha256 } from '../../../contract/signing.ts';

/** Grants of a participant. Every grant is explicit, so that no default of the media server applies. */
export type ParticipantGrants = {
  readonly canPublish: boolean;
  /** The only sources that may be published; absent to allow all of them. */
  readonly canPublishSources?: readonly string[];
  readonly canSubscribe: boolean;
  readonly canPublishData: boolean;
  readonly canUpdateOwnMetadata: boolean;
  readonly roomAdmin: boolean;
  /** Whether the participant is invisible to others; for our own agents. */
  readonly hidden?: boolean;
  /** Whether the participant may send in the name of others; for our own agents. */
  readonly agent?: boolean;
};

/**
 * A media server whose clock is behind ours refuses a token that begins now. Tokens therefore begin earlier, by what the
 * clocks of signed requests and of events may differ.
 */
export const CLOCK_TOLERANCE_SECONDS = 300;

/** LiveKit's RoomConfiguration in protobuf JSON. An open room keeps its own settings. */
export type RoomConfig = {
  readonly maxParticipants?: number;
  /** Seconds for which an empty room stays open before the first join. */
  readonly emptyTimeout?: number;
  /** Seconds for which an empty room stays open after the last leave. */
  readonly departureTimeout?: number;
  readonly metadata?: string;
};

type TokenClaims = {
  readonly room: string;
  readonly identity: string;
  readonly name: string;
  readonly metadata: string | undefined;
  /** Absent for a person. */
  readonly kind?: 'agent';
  readonly attributes: Readonly<Record<string, string>>;
  readonly grants: ParticipantGrants;
  /** Settings of the room if this participant's join opens it; absent when the media server's own settings apply. */
  readonly roomConfig?: RoomConfig | undefined;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Unix seconds. */
  readonly expiresAt: number;
};

/** Signs LiveKit access tokens. */
export interface TokenSigner {
  sign(claims: TokenClaims): string;
}

/**
 * Signs LiveKit access tokens: JWT with HS256 and the claims of
 * https://docs.livekit.io/home/get-started/authentication/. The SDK's signer uses its own clock.
 */
export function createTokenSigner(apiKey: string, apiSecret: string): TokenSigner {
  const signJwt = createJwtSigner(apiSecret);
  return { sign: (claims) => signJwt(payload(apiKey, claims)) };
}

/** Undefined claims do not get into the token's JSON. */
function payload(apiKey: string, claims: TokenClaims): Readonly<Record<string, unknown>> {
  return {
    iss: apiKey,
    sub: claims.identity,
    nbf: claims.issuedAt - CLOCK_TOLERANCE_SECONDS,
    iat: claims.issuedAt,
    exp: claims.expiresAt,
    name: claims.name,
    kind: claims.kind,
    metadata: claims.metadata,
    attributes: claims.attributes,
    roomConfig: claims.roomConfig,
    video: { room: claims.room, roomJoin: true, ...claims.grants },
  };
}

/** Signs JSON Web Tokens with HS256. */
type SignJwt = (payload: object) => string;

/** Used instead of the SDK's signer, which takes three times as long. */
export function createJwtSigner(secret: string): SignJwt {
  const hmac = createHmacSha256(secret);
  return (payload) => {
    const signed = `${HEADER}.${encode(payload)}`;
    return `${signed}.${hmac(signed, 'base64url')}`;
  };
}

const HEADER = encode({ alg: 'HS256', typ: 'JWT' });

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
