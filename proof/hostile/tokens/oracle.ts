import { timingSafeEqual } from 'node:crypto';
import { macOf } from './forge.ts';

/** The correct decision of a verifier about a token. It is computed from RFC 7515 and 7519, without a library. */
export type Verdict = 'accept' | 'refuse' | 'either';

export type Expected = {
  readonly apiKey: string;
  readonly secret: string;
  /** The hash of the body that the token has to cover; undefined for the token of a participant. */
  readonly sha256: string | undefined;
};

/** Larger than the tolerance of every verifier here. */
const TOLERANCE_SECONDS = 300;

export function judgeToken(token: string, { apiKey, secret, sha256 }: Expected): Verdict {
  const segments = token.split('.');
  const [head = '', payload = '', mac = ''] = segments;
  const header = parse(head);
  const claims = parse(payload);
  if (segments.length !== 3 || header === undefined || claims === undefined) return 'refuse';
  const given = Buffer.from(mac, 'base64url');
  const expected = Buffer.from(macOf(`${head}.${payload}`, { alg: header.alg, secret }), 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'refuse';
  const { alg, crit } = header;
  if (typeof alg !== 'string' || !/^HS(256|384|512)$/.test(alg) || crit !== undefined) return 'refuse';
  if (claims.iss !== apiKey || !isTimely(claims)) return 'refuse';
  if (sha256 !== undefined && claims.sha256 !== sha256) return 'refuse';
  // The owner of the secret may sign with another hash, but a verifier need not support all of them.
  return alg === 'HS256' && /^[\w-]+$/.test(mac) ? 'accept' : 'either';
}

function isTimely({ exp, nbf }: Readonly<Record<string, unknown>>): boolean {
  const now = Date.now() / 1000;
  if (typeof exp !== 'number' || exp < now - TOLERANCE_SECONDS) return false;
  return nbf === undefined || (typeof nbf === 'number' && nbf <= now + TOLERANCE_SECONDS);
}

function parse(segment: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^[\w-]+$/.test(segment)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
