import { setTimeout as delay } from 'node:timers/promises';
import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import {
  createFleet,
  type Fleet,
  type FleetInstance,
} from '../../../test/server/webhooks/support/instance.ts';
import { startReceiver } from '../../../test/server/webhooks/support/receiver.ts';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import { type People, startPeople } from '../../../test/support/parts/people.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import type { ExperimentContext, Findings } from '../../experiment.ts';
import { atMost, exactly, type Figure, type Figures, named, observed } from '../../figures.ts';
import { type EngineSettings, onBothEngines } from '../../support/both-engines.ts';
import { findWithin } from '../../support/poll.ts';
import { createSignedClient, mediaServerSettings } from '../../support/signed-client.ts';
import { percentile } from '../../support/statistics.ts';
import { type Stage, whileServed } from '../well-behaved.ts';
import { ATTACKS, askToken, listEvents, type Scene } from './attacks.ts';

const SECONDS = { long: 12, short: 1 } as const;
const CROWD = { long: 1_000, short: 10 } as const;
const LIMITS = { joinMs: 2_000, tellingMs: 2_000, requestMs: 250 } as const;
/** Thirty joins, thirty leaves, and as many beginnings and ends of tracks. */
const MOST_EVENTS = 120;
/** The attackers have computers of their own, so what they need is not taken from the service and the media server. */
const NICENESS = 19;
const JOIN_EVERY_MS = 250;
const TELLING = { everyMs: 10, withinMs: 20_000 };

export const [hostilePeopleSqlite, hostilePeoplePostgres] = onBothEngines('hostile-people', attackRooms);

async function attackRooms(context: ExperimentContext, settings: EngineSettings): Promise<Findings> {
  const { report } = context;
  const { scene, others, fleet, instance } = await startScene(context, settings);
  const served = { url: instance.url, pid: instance.pid, keys: fleet.keys };
  const watch = <Result>(name: string, work: () => Promise<Result>) =>
    whileServed(served, name, () => whileJoining({ ...scene, others }, name, work));
  const calmSince = Date.now();
  const calm = await watch('nobody attacks', () => delay(scene.seconds * 500));
  const figures: Figure[] = [
    ...othersFigures(calm.stage, calm.result),
    ...named(calm.stage.name, [await mostFigure(scene, calmSince)]),
  ];
  const own: Figure[] = [];
  for (const [name, attack] of Object.entries(ATTACKS)) {
    const room = name.replaceAll(' ', '-');
    const since = Date.now();
    const { stage, result } = await watch(name, () => attack(scene, room));
    for (const line of new Set([...stage.failures, ...result.failures])) report(`${name}: ${line}`);
    figures.push(...othersFigures(stage, result), ...named(name, [await mostFigure(scene, since)]));
    own.push(...named(`${name}, itself`, result.result));
    report(`${name}: ${result.result.map((figure) => `${figure.name} ${figure.measured}`).join(', ')}`);
  }
  return { figures: [...figures, ...own], versions: { LiveKit: livekitServerVersion } };
}

type Started = {
  readonly scene: Scene;
  /** A process of the people who join meanwhile. */
  readonly others: People;
  readonly fleet: Fleet;
  readonly instance: FleetInstance;
};

async function startScene(
  { cleanUp, runSize }: ExperimentContext,
  settings: EngineSettings,
): Promise<Started> {
  const port = await freePort();
  const livekit = cleanUp(await startLivekit({ webhookUrl: `http://127.0.0.1:${port}/livekit/webhook` }));
  const fleet = cleanUp(await createFleet({ ...settings, ...mediaServerSettings(livekit) }));
  const instance = await fleet.start({ PORT: `${port}` });
  const client = cleanUp(createSignedClient(instance.url, fleet.keys, 16));
  const receiver = cleanUp(await startReceiver());
  const { json } = await client.call('POST', '/v1/webhooks', { url: receiver.url });
  const attackers = cleanUp(await startPeople({ niceness: NICENESS }));
  const others = cleanUp(await startPeople());
  const scene: Scene = {
    ...{ client, livekit, receiver, attackers, secret: String(json.secret) },
    ...{ seconds: SECONDS[runSize], crowd: CROWD[runSize] },
  };
  return { scene, others, fleet, instance };
}

type Joining<Result> = {
  readonly times: readonly number[];
  readonly failures: readonly string[];
  /** Milliseconds from the end of each join until a webhook told of it. */
  readonly toldAfter: readonly number[];
  readonly result: Result;
};

/** Lets others join a room of their own, one after the other, until the work is done. */
async function whileJoining<Result>(
  scene: Scene & { readonly others: People },
  name: string,
  work: () => Promise<Result>,
): Promise<Joining<Result>> {
  const over = new AbortController();
  const times: number[] = [];
  const toldAfter: number[] = [];
  const failures: string[] = [];
  const joinOnce = async (identity: string): Promise<void> => {
    const startedAt = performance.now();
    const { url, token } = await askToken(scene, 'others', identity);
    const guest = await scene.others.join(url, token);
    const joinedAt = performance.now();
    times.push(joinedAt - startedAt);
    const isTold = await findWithin(TELLING, async () =>
      scene.receiver.received.some(
        ({ body }) => body.event === 'participant_joined' && body.participant?.identity === identity,
      ),
    );
    if (isTold) toldAfter.push(performance.now() - joinedAt);
    await guest.leave();
  };
  const joining = (async () => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      await joinOnce(`${name}, other ${count}`).catch((error) => failures.push(`a join failed: ${error}`));
      await delay(JOIN_EVERY_MS);
    }
  })();
  const result = await work().finally(() => over.abort());
  await joining;
  return { times, failures, toldAfter, result };
}

function othersFigures(
  { name, timesMs, failures, highestMb }: Stage,
  joining: Omit<Joining<unknown>, 'result'>,
): Figures {
  const { times, toldAfter } = joining;
  const [joins = 0, telling = 0, requests = 0] = [times, toldAfter, timesMs].map((each) =>
    Math.round(percentile(each, 0.99)),
  );
  return named(name, [
    observed('joins of others', times.length),
    exactly('joins of others that failed', joining.failures.length, 0),
    atMost({ name: 'joins of others, p99', measured: joins, bound: LIMITS.joinMs, unit: ' ms' }),
    exactly('joins of others of which no webhook told', times.length - toldAfter.length, 0),
    atMost({ name: 'until a webhook told, p99', measured: telling, bound: LIMITS.tellingMs, unit: ' ms' }),
    exactly('requests of others that failed', failures.length, 0),
    atMost({
      name: 'requests of others, p99',
      measured: requests,
      bound: LIMITS.requestMs,
      unit: ' ms',
    }),
    observed('highest memory of the service', Math.round(highestMb), ' MB'),
  ]);
}

/** Counts the events since this time by their person and minute. */
async function mostFigure(scene: Scene, since: number): Promise<Figure> {
  const events = (await listEvents(scene)).filter(
    ({ participant, timestamp }) => participant !== undefined && Date.parse(timestamp) >= since,
  );
  const minutes = Map.groupBy(
    events,
    ({ participant, timestamp }) => `${participant?.identity} ${timestamp.slice(0, 16)}`,
  );
  const measured = Math.max(0, ...[...minutes.values()].map(({ length }) => length));
  return atMost({ name: 'most events of one person in a minute', measured, bound: MOST_EVENTS });
}
