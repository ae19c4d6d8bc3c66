import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { livekitServerVersion } from '../../src/server/dev/binaries/livekit-binary.ts';
import { createFleet } from '../../test/server/webhooks/support/instance.ts';
import { type Livekit, startLivekit } from '../../test/support/parts/livekit.ts';
import { startRedis } from '../../test/support/parts/redis.ts';
import { Random } from '../../test/support/random.ts';
import { exactly, type Figure, type Findings, observed, type ProofContext, type ProofPart } from '../part.ts';
import { percentile } from '../percentile.ts';
import { type CallersOptions, callUntil, type Ledger, MEDIA_KEY } from '../rolling/callers.ts';
import { createSignedClient, type SignedClient } from '../rolling/signed-client.ts';

const SEED = 20_261_126;
const CALLERS = 8;
const PAUSE_MS = 30;
const CALM_SECONDS = { long: 5, short: 1 } as const;
const AWAY_SECONDS = { long: 20, short: 2 } as const;
const LOOK_MS = 50;

export const mediaFaults: ProofPart = {
  name: 'media-faults',
  title: 'LiveKit frozen, killed and started again; Redis gone',
  claim:
    'While the media server is away, whatever does not need it goes on, and whatever does is refused with 502, 503 or 504; when it is back, ' +
    'calls succeed again without anybody doing anything.',
  attack: [
    `One instance on SQLite, a real LiveKit on a real Redis, and ${CALLERS} callers with the mix of the rolling restart. LiveKit is stopped ` +
      `(SIGSTOP) for ${AWAY_SECONDS.long} s and goes on; it is killed (SIGKILL) and started again at the same address after ${AWAY_SECONDS.long} s; ` +
      `then Redis goes for good. Every answer is looked at, and after each return how long it takes until a list of rooms succeeds.`,
  ],
  notClaimed: [
    'Two LiveKit nodes on one Redis with one of them killed: tests of their own do that (docs/webhooks.md says what is seen).',
    'Recorders, ingress workers and speech workers that are killed at each state.',
    'That a room made in the second before a kill is there afterwards: LiveKit decides that.',
  ],
  run: strikeMedia,
};

type Stage = { readonly name: string; readonly ledger: Ledger };

async function strikeMedia({ form, say, cleanUp }: ProofContext): Promise<Findings> {
  const mediaSecret = randomBytes(24).toString('hex');
  const redis = await startRedis();
  cleanUp(redis.close);
  const options = { redis, apiKey: MEDIA_KEY, apiSecret: mediaSecret };
  let livekit: Livekit = await startLivekit(options);
  cleanUp(() => livekit.close());
  const port = Number(new URL(livekit.httpUrl).port);
  const fleet = await createFleet({
    LIVEKIT_URL: livekit.url,
    LIVEKIT_API_KEY: livekit.apiKey,
    LIVEKIT_API_SECRET: livekit.apiSecret,
  });
  cleanUp(fleet.close);
  const instance = await fleet.start();
  const client = createSignedClient(instance.url, fleet.keys, 2 * CALLERS);
  cleanUp(client.close);
  const random = new Random(SEED);
  const stages: Stage[] = [];
  const during = async (name: string, seconds: number): Promise<void> => {
    say(name);
    const callers: CallersOptions = {
      ...{ outside: client, inside: client, mediaSecret },
      ...{ random, callers: CALLERS, pauseMs: PAUSE_MS, prefix: name.replaceAll(' ', '-') },
    };
    stages.push({ name, ledger: await callUntil(AbortSignal.timeout(seconds * 1000), callers) });
  };
  await during('in peace', CALM_SECONDS[form]);
  livekit.freeze();
  await during('while LiveKit is frozen', AWAY_SECONDS[form]);
  livekit.thaw();
  const thawed = await untilRooms(client);
  await during('after it was thawed', CALM_SECONDS[form]);
  await livekit.kill();
  await during('while LiveKit is gone', AWAY_SECONDS[form]);
  livekit = await startLivekit({ ...options, port });
  const restarted = await untilRooms(client);
  await during('after it was started again', CALM_SECONDS[form]);
  await redis.close();
  await during('while Redis is gone', AWAY_SECONDS[form]);
  for (const { ledger } of stages) {
    for (const line of [...unexpected(ledger), ...ledger.wrongSuccesses].slice(0, 5)) say(line.slice(0, 200));
  }
  return {
    figures: [
      ...stages.flatMap(stageFigures),
      observed('first list of rooms after the thaw', Math.round(thawed), ' ms'),
      observed('first list of rooms after the start', Math.round(restarted), ' ms'),
    ],
    versions: { LiveKit: livekitServerVersion },
    notes: [`Seed ${SEED}.`],
  };
}

function stageFigures({ name, ledger }: Stage): readonly Figure[] {
  const refused = ledger.failures.length - unexpected(ledger).length;
  const isCalm = name.startsWith('in peace') || name.startsWith('after');
  return [
    observed(`${name}: requests`, ledger.requests),
    isCalm
      ? exactly(`${name}: refused 502, 503 or 504 for want of LiveKit`, refused, 0)
      : observed(`${name}: refused 502, 503 or 504 for want of LiveKit`, refused),
    exactly(`${name}: other failures`, unexpected(ledger).length, 0),
    exactly(`${name}: successes that were not true`, ledger.wrongSuccesses.length, 0),
    observed(`${name}: slowest answer`, Math.round(percentile(ledger.timesMs, 1)), ' ms'),
  ];
}

/** Failures of what needs no media server, and those that are not said to be its own. */
function unexpected({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => !/^\w+ \/v1\/rooms\S*: 50[234] /.test(line));
}

/** Milliseconds until a list of rooms succeeds. */
async function untilRooms(client: SignedClient): Promise<number> {
  const startedAt = performance.now();
  while ((await client.call('GET', '/v1/rooms')).status !== 200) await delay(LOOK_MS);
  return performance.now() - startedAt;
}
