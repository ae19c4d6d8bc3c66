import { createHash, createHmac, generateKeyPairSync } from 'node:crypto';
import type { Random } from '../../../test/support/random.ts';

/** The parts of a token before it is signed. */
export type TokenParts = {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly secret: string | Buffer;
};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const HASHES: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };

export function macOf(signed: string, { alg, secret }: { alg: unknown; secret: string | Buffer }): string {
  const hash = HASHES[String(alg)] ?? 'sha256';
  return createHmac(hash, secret).update(signed).digest('base64url');
}

export function signToken({ header, claims, secret }: TokenParts): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${macOf(signed, { alg: header.alg, secret })}`;
}

export const hashOf = (body: string): string => createHash('sha256').update(body).digest('base64');

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = publicKey.export({ type: 'spki', format: 'pem' });
const JWK = { kty: 'oct', k: Buffer.from('attacker').toString('base64url'), alg: 'HS256' };

type Forgery = (parts: TokenParts, random: Random) => string;

const withHeader =
  (header: Readonly<Record<string, unknown>>, secret?: string): Forgery =>
  (parts) =>
    signToken({ ...parts, header: { ...parts.header, ...header }, secret: secret ?? parts.secret });
const withClaims =
  (change: (claims: TokenParts['claims'], now: number) => Readonly<Record<string, unknown>>): Forgery =>
  (parts) =>
    signToken({ ...parts, claims: change(parts.claims, Math.floor(Date.now() / 1000)) });
const unsigned =
  (alg: unknown): Forgery =>
  ({ header, claims }) =>
    `${encode({ ...header, alg })}.${encode(claims)}.`;
const withoutClaim = (name: string): Forgery =>
  withClaims((claims) => Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name)));
const edited =
  (edit: (segments: string[], random: Random) => readonly string[]): Forgery =>
  (parts, random) =>
    edit(signToken(parts).split('.'), random).join('.');

const flip = (text: string, random: Random): string => {
  const bytes = Buffer.from(text, 'base64url');
  const at = random.integer(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(8));
  return bytes.toString('base64url');
};
const flipped = (index: number): Forgery =>
  edited((segments, random) => segments.map((text, at) => (at === index ? flip(text, random) : text)));

/** Every way in which a token is forged or altered, by name. */
export const FORGERIES: Readonly<Record<string, Forgery>> = {
  'no algorithm (none)': unsigned('none'),
  'no algorithm (None)': unsigned('None'),
  'no algorithm (nOnE)': unsigned('nOnE'),
  'no algorithm (empty)': unsigned(''),
  'no algorithm (null)': unsigned(null),
  'an algorithm that is a list': unsigned(['HS256']),
  'none with the signature of HS256': withHeader({ alg: 'none' }),
  'HS384 with the secret': withHeader({ alg: 'HS384' }),
  'HS512 with the secret': withHeader({ alg: 'HS512' }),
  'RS256 with the secret': withHeader({ alg: 'RS256' }),
  'ES256 with the secret': withHeader({ alg: 'ES256' }),
  'EdDSA with the secret': withHeader({ alg: 'EdDSA' }),
  'another secret': withHeader({}, 'another secret'),
  'an empty secret': withHeader({}, ''),
  'the key as the secret': (parts) => signToken({ ...parts, secret: String(parts.claims.iss) }),
  'a public key as the secret': withHeader({ alg: 'RS256' }, String(PEM)),
  'a public key as the secret of HS256': withHeader({}, String(PEM)),
  'a key in the header (jwk)': withHeader({ jwk: JWK }, 'attacker'),
  'the address of a key (jku)': withHeader({ jku: 'http://127.0.0.1:9/keys' }, 'attacker'),
  'the address of a certificate (x5u)': withHeader({ x5u: 'http://127.0.0.1:9/x' }, 'attacker'),
  'a kid of an empty file': withHeader({ kid: '../../../../dev/null' }, ''),
  'a kid of SQL': withHeader({ kid: "x' UNION SELECT 'attacker" }, 'attacker'),
  'a critical header': withHeader({ crit: ['unknown'], unknown: true }),
  'an unencoded payload (b64)': withHeader({ b64: false, crit: ['b64'] }),
  'expired an hour ago': withClaims((claims, now) => ({ ...claims, exp: now - 3_600 })),
  'valid in an hour': withClaims((claims, now) => ({ ...claims, nbf: now + 3_600 })),
  'an expiry that is a text': withClaims((claims) => ({ ...claims, exp: '9999999999' })),
  'an expiry that is a list': withClaims((claims) => ({ ...claims, exp: [9_999_999_999] })),
  'a negative expiry': withClaims((claims) => ({ ...claims, exp: -1 })),
  'another issuer': withClaims((claims) => ({ ...claims, iss: 'another' })),
  'a list of issuers': withClaims((claims) => ({ ...claims, iss: [claims.iss] })),
  'no issuer': withoutClaim('iss'),
  'another name for the issuer': withClaims(({ iss, ...claims }) => ({ ...claims, Iss: iss, iſs: iss })),
  'the hash of another body': withClaims((claims) => ({ ...claims, sha256: hashOf('another body') })),
  'the hash in hexadecimal': withClaims((claims) => ({
    ...claims,
    sha256: Buffer.from(String(claims.sha256), 'base64').toString('hex'),
  })),
  'the hash in a list': withClaims((claims) => ({ ...claims, sha256: [claims.sha256] })),
  'the hash in an object': withClaims((claims) => ({ ...claims, sha256: { toString: claims.sha256 } })),
  'the hash in lower case': withClaims((claims) => ({
    ...claims,
    sha256: String(claims.sha256).toLowerCase(),
  })),
  'the hash under a Cyrillic name': withClaims(({ sha256, ...claims }) => ({ ...claims, ѕha256: sha256 })),
  'the hash under a prototype': withClaims(({ sha256, ...claims }) => ({
    ...claims,
    ['__proto__']: { sha256 },
  })),
  'no hash, as the token of a participant': withoutClaim('sha256'),
  'nested claims': withClaims((claims) => ({ claims })),
  'claims in a list': (parts) => {
    const signed = `${encode(parts.header)}.${encode([parts.claims])}`;
    return `${signed}.${macOf(signed, { alg: 'HS256', secret: parts.secret })}`;
  },
  'a flipped bit in the header': flipped(0),
  'a flipped bit in the claims': flipped(1),
  'a flipped bit in the signature': flipped(2),
  'a cut signature': edited(([header = '', claims = '', mac = ''], random) => [
    header,
    claims,
    mac.slice(0, random.integer(mac.length)),
  ]),
  'no signature': edited((segments) => segments.slice(0, 2)),
  'a fourth segment': edited((segments) => [...segments, 'x']),
  'a signature of zeros': edited(([header = '', claims = '']) => [header, claims, 'A'.repeat(43)]),
  'the word Bearer before it': edited((segments) => [`Bearer ${segments[0]}`, ...segments.slice(1)]),
  'a large claim': withClaims((claims) => ({ ...claims, sha256: 'x'.repeat(12_000) })),
  'brackets without end': edited(([header = '', , mac = '']) => [
    header,
    Buffer.from('['.repeat(6_000)).toString('base64url'),
    mac,
  ]),
  'two hashes, of which the last is another': (parts) => {
    const text = JSON.stringify(parts.claims).replace(/\}$/, `,"sha256":"${hashOf('another body')}"}`);
    const signed = `${encode(parts.header)}.${Buffer.from(text).toString('base64url')}`;
    return `${signed}.${macOf(signed, { alg: 'HS256', secret: parts.secret })}`;
  },
};

/** These are signed with the secret and have unusual contents. LiveKit may take them or not: their maker has its secret. */
export const ODD_BUT_SIGNED: ReadonlySet<string> = new Set([
  'another name for the issuer',
  'a critical header',
  'an unencoded payload (b64)',
  'an expiry that is a text',
  'an expiry that is a list',
  'a negative expiry',
  'the hash in a list',
  'the hash in an object',
  'a list of issuers',
  'claims in a list',
]);
