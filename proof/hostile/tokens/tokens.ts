import { roomFinished } from '../../../test/server/webhooks/support/media-webhook.ts';
import { Random } from '../../../test/support/random.ts';
import { exactly, type Findings, observed, type ProofContext, type ProofPart } from '../../part.ts';
import { plantSecrets, scanForSecrets, scanNote, startTarget, type Target } from '../target.ts';
import { FORGERIES, hashOf, ODD_BUT_SIGNED, signToken, type TokenParts } from './forge.ts';
import { type Expected, judgeToken } from './oracle.ts';

const SEED = 20_261_124;
const COUNT = { long: 20_000, short: 500 } as const;
const VALIDATED = { long: 2_000, short: 100 } as const;
/** One of ten tokens is not altered. */
const GENUINE_OF = 10;
const BATCH = 8;

export const forgedTokens: ProofPart = {
  name: 'forged-tokens',
  title: 'Tokens of LiveKit are forged and altered',
  claim:
    'The service accepts an event of the media server if and only if its token is signed with the secret of the media server, is valid now and covers the ' +
    'body. A token that the service issues lets a person in if and only if it is unaltered, and opens no endpoint of the service.',
  attack: [
    `Events arrive at POST /livekit/webhook with tokens that are genuine or made in one of ${Object.keys(FORGERIES).length} ways: ` +
      `${Object.keys(FORGERIES).join('; ')}. An oracle that was written from RFC 7515 and RFC 7519, without a library, decides which must be accepted. ` +
      'Genuine events are sent twice. At the end the part counts the stored events.',
    'Tokens of participants that the service issued are altered in the same ways and given to a real LiveKit (/rtc/validate). Each is also ' +
      'sent to the service, in place of a signature and as the token of an event.',
    'Afterwards the part searches for secrets in the same places as mutated-requests.',
  ],
  notClaimed: [
    'Tokens that are signed with the secret of the media server by HS384 or HS512: their sender has the secret.',
    `Whether LiveKit accepts tokens that are signed with its secret and have unusual contents: ${[...ODD_BUT_SIGNED].join('; ')}.`,
    'A replay within the validity of a token: the same event is accepted again, and stored once.',
  ],
  run: forgeTokens,
};

type Tally = {
  sent: number;
  genuine: number;
  readonly taken: Set<string>;
  readonly wrong: string[];
  readonly failed: string[];
};

async function forgeTokens(context: ProofContext): Promise<Findings> {
  const { form, report: say } = context;
  const target = await startTarget(context, 'SQLite');
  await plantSecrets(target);
  const random = new Random(SEED);
  const events: Tally = { sent: 0, genuine: 0, taken: new Set(), wrong: [], failed: [] };
  while (events.sent < COUNT[form]) {
    await Promise.all(Array.from({ length: BATCH }, () => sendEvent(target, random, events)));
  }
  const people: Tally = { sent: 0, genuine: 0, taken: new Set(), wrong: [], failed: [] };
  const issued = await issueToken(target);
  while (people.sent < VALIDATED[form]) {
    await Promise.all(
      Array.from({ length: BATCH }, () => validate(target, { issued, random, tally: people })),
    );
  }
  const stored = await countEvents(target);
  const scan = await scanForSecrets(target);
  for (const line of [...events.wrong, ...events.failed, ...people.wrong, ...scan.found].slice(0, 40))
    say(line);
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
      exactly(`secrets found (of ${target.planted.length} planted)`, scan.found.length, 0),
    ],
    notes: [`Seed ${SEED}.`, scanNote(scan)],
  };
}

const HEADER = { alg: 'HS256', typ: 'JWT' } as const;

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
  const sha256 = hashOf(body);
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

async function countEvents({ fleet, instance }: Target): Promise<number> {
  let count = 0;
  for (let cursor = ''; ; ) {
    const path = `/v1/events?limit=500&types=room_finished${cursor}`;
    const page = Object(await fleet.call(instance, 'GET', path));
    count += page.events.length;
    if (page.events.length === 0 || page.nextCursor === null) return count;
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}
