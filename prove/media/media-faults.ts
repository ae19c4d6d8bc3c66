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
  title: 'LiveKit is frozen, killed and restarted, and Redis disappears',
  claim:
    'While the media server is away, the service refuses the requests that need it with 502, 503 or 504 and serves all others. When the media ' +
    'server is back, requests succeed again without intervention.',
  attack: [
    `One instance runs on SQLite with a real LiveKit on a real Redis, and ${CALLERS} callers send the mix of rolling-restart. LiveKit is frozen ` +
      `(SIGSTOP) for ${AWAY_SECONDS.long} s and continues; it is killed (SIGKILL) and restarted at the same address after ${AWAY_SECONDS.long} s; ` +
      'then Redis is stopped for good. The part checks every answer, and measures after each return how long the list of rooms takes to succeed.',
  ],
  notClaimed: [
    'Two LiveKit nodes on one Redis, one of which is killed: tests cover that (docs/webhooks.md describes what happens).',
    'Recorders, ingress workers and speech workers that are killed in each of their states.',
    'That a room created in the second before a kill still exists afterwards: LiveKit decides that.',
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
  await during('before the faults', CALM_SECONDS[form]);
  livekit.freeze();
  await during('while LiveKit is frozen', AWAY_SECONDS[form]);
  livekit.thaw();
  const thawed = await untilRooms(client);
  await during('after the thaw', CALM_SECONDS[form]);
  await livekit.kill();
  await during('while LiveKit is away', AWAY_SECONDS[form]);
  livekit = await startLivekit({ ...options, port });
  const restarted = await untilRooms(client);
  await during('after the restart', CALM_SECONDS[form]);
  await redis.close();
  await during('while Redis is away', AWAY_SECONDS[form]);
  for (const { ledger } of stages) {
    for (const line of [...unexpected(ledger), ...ledger.wrongSuccesses].slice(0, 5)) say(line.slice(0, 200));
  }
  return {
    figures: [
      ...stages.flatMap(stageFigures),
      observed('time until the list of rooms succeeds after the thaw', Math.round(thawed), ' ms'),
      observed('time until the list of rooms succeeds after the restart', Math.round(restarted), ' ms'),
    ],
    versions: { LiveKit: livekitServerVersion },
    notes: [`Seed ${SEED}.`],
  };
}

function stageFigures({ name, ledger }: Stage): readonly Figure[] {
  const refused = ledger.failures.length - unexpected(ledger).length;
  const isCalm = name.startsWith('before the faults') || name.startsWith('after');
  return [
    observed(`${name}: requests`, ledger.requests),
    isCalm
      ? exactly(`${name}: requests refused for lack of LiveKit`, refused, 0)
      : observed(`${name}: requests refused for lack of LiveKit`, refused),
    exactly(`${name}: other failed requests`, unexpected(ledger).length, 0),
    exactly(`${name}: successful answers that were not true`, ledger.wrongSuccesses.length, 0),
    observed(`${name}: slowest answer`, Math.round(percentile(ledger.timesMs, 1)), ' ms'),
  ];
}

/** Failures other than a 502, 503 or 504 of a request that needs the media server. */
function unexpected({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => !/^\w+ \/v1\/rooms\S*: 50[234] /.test(line));
}

/** Milliseconds until a list of rooms succeeds. */
async function untilRooms(client: SignedClient): Promise<number> {
  const startedAt = performance.now();
  while ((await client.call('GET', '/v1/rooms')).status !== 200) await delay(LOOK_MS);
  return performance.now() - startedAt;
}
