import { isObject, membersOf } from '../../../contract/unknown-value.ts';
/** The claims of a LiveKit access token, https://docs.livekit.io/home/get-started/authentication/ */
export type TokenClaims = {
  /** The payload of the token. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly identity: string | undefined;
  readonly name: string | undefined;
  readonly room: string | undefined;
  /** The attribute rtc.role, which this service signs. */
  readonly role: string | undefined;
  /** Names of the grants that are true. */
  readonly grants: readonly string[];
  readonly metadata: string | undefined;
  readonly issuer: string | undefined;
  /** Undefined also for a time beyond any date. */
  readonly expiresAtMs: number | undefined;
  readonly isExpired: boolean;
};

/** Reads a token without checking the signature. Returns undefined for a text that is no JWT. */
export function inspectToken(token: string, nowMs: number): TokenClaims | undefined {
  const parts = token.trim().split('.');
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) return undefined;
  const payload = parsePart(parts[1] ?? '');
  if (payload === undefined || parsePart(parts[0] ?? '') === undefined) return undefined;
  const video = membersOf(payload.video);
  const exp = typeof payload.exp === 'number' ? payload.exp : undefined;
  return {
    payload,
    identity: textOf(payload.sub),
    name: textOf(payload.name),
    room: textOf(video.room),
    role: textOf(membersOf(payload.attributes)['rtc.role']),
    grants: Object.keys(video).filter((grant) => video[grant] === true),
    metadata: textOf(payload.metadata),
    issuer: textOf(payload.iss),
    expiresAtMs: exp !== undefined && Math.abs(exp) <= MAX_DATE_SECONDS ? exp * 1000 : undefined,
    // RFC 7519, section 4.1.4: not valid on or after.
    isExpired: exp !== undefined && nowMs >= exp * 1000,
  };
}

/** ECMA-262, section 21.4.1.1: no date is further from 1970. */
const MAX_DATE_SECONDS = 8.64e12;

function parsePart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    // Not JSON, so not a JWT.
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
