import { createHash, createHmac, generateKeyPairSync, timingSafeEqual } from 'node:crypto';
import { roomFinished } from '../../../test/server/webhooks/support/media-webhook.ts';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { exactly, observed } from '../../figures.ts';
import { namesOfStoredEvents } from '../../support/signed-client.ts';
import { attackTarget, type Target } from '../target.ts';

const SEED = 20_261_124;
const COUNT = { long: 20_000, short: 500 } as const;
const VALIDATED = { long: 2_000, short: 100 } as const;
/** One of ten tokens is not altered. */
const GENUINE_OF = 10;
const BATCH = 8;
const HEADER = { alg: 'HS256', typ: 'JWT' } as const;
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const HASHES: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };
const computeHash = (body: string): string => createHash('sha256').update(body).digest('base64');

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const PEM = publicKey.export({ type: 'spki', format: 'pem' });
const JWK = { kty: 'oct', k: Buffer.from('attacker').toString('base64url'), alg: 'HS256' };

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
const FORGERIES: Readonly<Record<string, Forgery>> = {
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
  'the hash of another body': withClaims((claims) => ({ ...claims, sha256: computeHash('another body') })),
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
    return `${signed}.${computeMac(signed, { alg: 'HS256', secret: parts.secret })}`;
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
    const text = JSON.stringify(parts.claims).replace(/\}$/, `,"sha256":"${computeHash('another body')}"}`);
    const signed = `${encode(parts.header)}.${Buffer.from(text).toString('base64url')}`;
    return `${signed}.${computeMac(signed, { alg: 'HS256', secret: parts.secret })}`;
  },
};

/** These are signed with the secret and have unusual contents. LiveKit may take them or not: their maker has its secret. */
const ODD_BUT_SIGNED: ReadonlySet<string> = new Set([
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

/** Larger than the tolerance of every verifier here. */
const TOLERANCE_SECONDS = 300;

export const forgedTokens: Experiment = {
  name: 'forged-tokens',
  run: (context) => attackTarget(context, { database: 'SQLite' }, (target) => forgeTokens(target, context)),
};

type Tally = {
  sent: number;
  genuine: number;
  readonly taken: Set<string>;
  readonly wrong: string[];
  readonly failed: string[];
};

async function forgeTokens(target: Target, { runSize, report: say }: ExperimentContext): Promise<Findings> {
  const random = new Random(SEED);
  const events: Tally = { sent: 0, genuine: 0, taken: new Set(), wrong: [], failed: [] };
  while (events.sent < COUNT[runSize]) {
    await Promise.all(Array.from({ length: BATCH }, () => sendEvent(target, random, events)));
  }
  const people: Tally = { sent: 0, genuine: 0, taken: new Set(), wrong: [], failed: [] };
  const issued = await issueToken(target);
  while (people.sent < VALIDATED[runSize]) {
    await Promise.all(
      Array.from({ length: BATCH }, () => validate(target, { issued, random, tally: people })),
    );
  }
  const names = await namesOfStoredEvents(target.client);
  const stored = names.filter((name) => name.startsWith('forged-')).length;
  for (const line of [...events.wrong, ...events.failed, ...people.wrong].slice(0, 40)) say(line);
  return {
    figures: [
      observed('events with a token', events.sent),
      observed('events with a genuine token', events.genuine),
      exactly('events that were taken or refused wrongly', events.wrong.length, 0),
      exactly('events answered with 5xx', events.failed.length, 0),
      exactly(
        'stored events that no genuine token covers, or that are missing',
        Math.abs(stored - events.taken.size),
        0,
      ),
      observed('tokens of participants at LiveKit', people.sent),
      observed('tokens of participants that LiveKit has to take', people.genuine),
      exactly('tokens of participants that were taken or refused wrongly', people.wrong.length, 0),
    ],
    notes: [`Seed ${SEED}.`],
  };
}

function forge(parts: TokenParts, random: Random): { readonly name: string; readonly token: string } {
  if (random.integer(GENUINE_OF) === 0) return { name: 'genuine', token: signToken(parts) };
  const [name, make] = random.pick(Object.entries(FORGERIES));
  return { name, token: make(parts, random) };
}

async function sendEvent({ instance, livekit }: Target, random: Random, tally: Tally): Promise<void> {
  tally.sent += 1;
  const room = `forged-${tally.sent}`;
  const now = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({ createdAt: `${now}`, ...roomFinished(room) });
  const sha256 = computeHash(body);
  const claims = { iss: livekit.apiKey, exp: now + 300, nbf: now - 5, sha256 };
  const { name, token } = forge({ header: HEADER, claims, secret: livekit.apiSecret }, random);
  const verdict = judgeToken(token, { apiKey: livekit.apiKey, secret: livekit.apiSecret, sha256 });
  const status = await post(`${instance.url}/livekit/webhook`, token, body);
  if (verdict === 'accept') {
    tally.genuine += 1;
    await post(`${instance.url}/livekit/webhook`, token, body);
  }
  if (status === 200) tally.taken.add(room);
  if (status >= 500) tally.failed.push(`${name}: ${status}`);
  else if (verdict !== 'either' && (status === 200) !== (verdict === 'accept'))
    tally.wrong.push(`${name}: ${status}, which has to be ${verdict}`);
}

async function post(url: string, token: string, body: string): Promise<number> {
  const headers = {
    'content-type': 'application/webhook+json',
    authorization: Buffer.from(token).toString('latin1'),
  };
  const answer = await fetch(url, { method: 'POST', headers, body });
  await answer.body?.cancel();
  return answer.status;
}

async function issueToken({ fleet, instance }: Target): Promise<string> {
  const { token } = Object(
    await fleet.call(instance, 'POST', '/v1/token', {
      roomId: 'forged',
      userId: 'ada',
      name: 'Ada',
      role: 'host',
    }),
  );
  if (typeof token !== 'string') throw new Error('the service issued no token');
  return token;
}

type Validation = { readonly issued: string; readonly random: Random; readonly tally: Tally };

/** Sends the token to LiveKit and to the service. The service has to refuse it in any case. */
async function validate({ instance, livekit }: Target, { issued, random, tally }: Validation): Promise<void> {
  tally.sent += 1;
  const claims: Readonly<Record<string, unknown>> = JSON.parse(
    Buffer.from(issued.split('.')[1] ?? '', 'base64url').toString('utf8'),
  );
  const expected: Expected = { apiKey: livekit.apiKey, secret: livekit.apiSecret, sha256: undefined };
  const { name, token } = forge({ header: HEADER, claims, secret: livekit.apiSecret }, random);
  const verdict = ODD_BUT_SIGNED.has(name) ? 'either' : judgeToken(token, expected);
  if (verdict === 'accept') tally.genuine += 1;
  const url = `${livekit.url.replace(/^ws/, 'http')}/rtc/validate?access_token=${encodeURIComponent(token)}`;
  const answer = await fetch(url);
  await answer.body?.cancel();
  if (verdict !== 'either' && answer.ok !== (verdict === 'accept'))
    tally.wrong.push(`LiveKit, ${name}: ${answer.status}, which has to be ${verdict}`);
  const authorization = `Bearer ${token.replace(/^ /, '')}`;
  const listed = await fetch(`${instance.url}/v1/rooms`, {
    headers: { authorization, 'x-api-key': livekit.apiKey },
  });
  await listed.body?.cancel();
  const body = JSON.stringify(roomFinished('by-a-participant'));
  const posted = await post(`${instance.url}/livekit/webhook`, token, body);
  if (listed.status < 400 || posted < 400 || listed.status >= 500 || posted >= 500)
    tally.wrong.push(`the service, ${name}: ${listed.status} and ${posted}`);
}

/** The parts of a token before it is signed. */
type TokenParts = {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly secret: string | Buffer;
};

function computeMac(signed: string, { alg, secret }: { alg: unknown; secret: string | Buffer }): string {
  const hash = HASHES[String(alg)] ?? 'sha256';
  return createHmac(hash, secret).update(signed).digest('base64url');
}

function signToken({ header, claims, secret }: TokenParts): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${computeMac(signed, { alg: header.alg, secret })}`;
}

type Forgery = (parts: TokenParts, random: Random) => string;

/** The correct decision of a verifier about a token. It is computed from RFC 7515 and 7519, without a library. */
type Verdict = 'accept' | 'refuse' | 'either';

type Expected = {
  readonly apiKey: string;
  readonly secret: string;
  /** The hash of the body that the token has to cover; undefined for the token of a participant. */
  readonly sha256: string | undefined;
};

function judgeToken(token: string, { apiKey, secret, sha256 }: Expected): Verdict {
  const segments = token.split('.');
  const [head = '', payload = '', mac = ''] = segments;
  const header = parse(head);
  const claims = parse(payload);
  if (segments.length !== 3 || header === undefined || claims === undefined) return 'refuse';
  const given = Buffer.from(mac, 'base64url');
  const expected = Buffer.from(computeMac(`${head}.${payload}`, { alg: header.alg, secret }), 'base64url');
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
