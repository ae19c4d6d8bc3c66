import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { RoomServiceClient } from 'livekit-server-sdk';
import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import type { FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import { mediaWebhook, roomFinished } from '../../../test/server/webhooks/support/media-webhook.ts';
import type { Experiment, ExperimentContext, Findings, RunSize } from '../../experiment.ts';
import { atMost, exactly, type Figure, type Figures, named, observed } from '../../figures.ts';
import { findWithin } from '../../support/poll.ts';
import { createSignedClient, type ServiceResponse } from '../../support/signed-client.ts';
import { sum } from '../../support/statistics.ts';
import { type ClockCase, type ClockStage, DAY_S, startClockStage } from './clock-stage.ts';

const SHIFTS = [
  ['an hour', 3_600],
  ['a day', DAY_S],
  ['400 days', 400 * DAY_S],
] as const;
const PLACES = ['one of three instances', 'PostgreSQL', 'SQLite'] as const;
/** Nothing is deleted in the first five minutes after a start. The decision is made then. */
const SECONDS = { long: 320, short: 12 } as const;
/** How long the clock is wrong where it was right at the start. Instances compare theirs with the database's once a minute. */
const WRONG_FOR_S = { long: 90, short: 9 } as const;
const CLOSES_IN_MS = 8_000;
const CLOSED_WITHIN_MS = 10_000;
const RETRY_MS = 5_000;
/** A timer may run a little early by another clock. */
const NEARLY_MS = 250;
const ROUND_MS = 1_000;
const AFTERWARDS_MS = { long: 60_000, short: 15_000 } as const;
const LOOK_MS = 100;

export const clocks: Experiment = { name: 'clocks', run: setClocks };

async function setClocks(context: ExperimentContext): Promise<Findings> {
  const seen: Seen[] = [];
  for (const cases of listWaves(context.runSize)) {
    seen.push(...(await Promise.all(cases.map((one) => attack(context, one)))));
  }
  const groups = Map.groupBy(seen, ({ one: { place, size } }) => `${place}, ${size}`);
  return {
    figures: [...groups].flatMap(([name, cases]) => named(name, toFigures(cases, context.runSize))),
    versions: { LiveKit: livekitServerVersion },
  };
}

/** The cases of one place run at the same time, because each of them mostly waits. */
function listWaves(runSize: RunSize): readonly (readonly ClockCase[])[] {
  const waves = PLACES.map((place) =>
    SHIFTS.flatMap(([size, length]) =>
      [length, -length].flatMap((seconds) =>
        (['at the start', 'while running'] as const).map((since): ClockCase => {
          const name = `${place}, ${size} ${seconds > 0 ? 'ahead' : 'behind'} ${since}`;
          return { name, place, size, since, seconds };
        }),
      ),
    ),
  );
  return runSize === 'long' ? waves : [waves.flat().filter(({ name }) => SHORT.test(name))];
}

const SHORT = /instances, 400 days ahead while|PostgreSQL, a day behind while|SQLite, an hour ahead at/;

type Tally = {
  /** Requests to instances whose clock is right, and to the others, by their outcome. */
  rightRefused: number;
  wrongRefused: number;
  unclear: number;
  /** Statements that PostgreSQL cancelled, because its time-outs are over when its clock jumps. */
  cancelled: number;
  readonly acknowledged: string[];
  readonly rooms: {
    readonly name: string;
    readonly closesAt: number;
    readonly closedAt: number | undefined;
  }[];
};

/** Sets the clock of one case, calls the service until it decides about deletions, and sets the clock right. */
async function attack(context: ExperimentContext, one: ClockCase): Promise<Seen> {
  const { runSize, report } = context;
  const stage = await startClockStage(context, one);
  const tally: Tally = {
    rightRefused: 0,
    wrongRefused: 0,
    unclear: 0,
    cancelled: 0,
    acknowledged: [],
    rooms: [],
  };
  const rooms: Promise<void>[] = [];
  const rightFor = one.since === 'at the start' ? 0 : SECONDS[runSize] - WRONG_FOR_S[runSize];
  const right = AbortSignal.timeout(rightFor * 1_000);
  if (rightFor > 0) await call(stage, tally, { until: right, isWrong: false });
  // A room that was opened before the clock is wrong, and is to close afterwards.
  rooms.push(planRoom(stage, tally, 'before'));
  await delay(2 * LOOK_MS);
  await stage.setClock(one.seconds);
  const until = AbortSignal.timeout((SECONDS[runSize] - rightFor) * 1_000);
  const calling = call(stage, tally, { until, isWrong: true });
  rooms.push(planRoom(stage, tally, 'during'));
  await Promise.all([calling, ...rooms]);
  const lostWhileWrong = await stage.countDeleted();
  const deciding =
    stage.instances.filter((_, index) => stage.isSkewed(index)).length || stage.instances.length;
  // An instance on a busy machine may compare its clock a minute later, and decide a minute after that.
  if (runSize === 'long') {
    await findWithin(
      { everyMs: 1_000, withinMs: 150_000 },
      async () => (await countSaying(stage)) >= deciding,
    );
  }
  const saying = await countSaying(stage);
  await stage.setClock(0);
  await delay(2_000);
  await Promise.all([
    planRoom(stage, tally, 'after'),
    call(stage, tally, { until: AbortSignal.timeout(CLOSES_IN_MS), isWrong: false }),
  ]);
  const isPurged = await findWithin({ everyMs: 500, withinMs: AFTERWARDS_MS[runSize] }, stage.isPurged);
  const deliveries = await untilDelivered(stage, tally, AFTERWARDS_MS[runSize]);
  const deleted = Math.max(lostWhileWrong, await stage.countDeleted());
  for (const line of stage.lines().slice(0, 3)) report(`${one.name}: ${line}`);
  const seen = { one, tally, deliveries, deleted, saying, isPurged: isPurged === true };
  report(
    `${one.name}: ${JSON.stringify({ ...seen, tally: { ...tally, acknowledged: tally.acknowledged.length } })}`,
  );
  return seen;
}

type Seen = {
  readonly one: ClockCase;
  readonly tally: Tally;
  readonly deliveries: { readonly lost: number; readonly repeated: number; readonly early: number };
  readonly deleted: number;
  /** Instances that say that they delete nothing. */
  readonly saying: number;
  readonly isPurged: boolean;
};

function toFigures(cases: readonly Seen[], runSize: RunSize): Figures {
  const total = (count: (one: Seen) => number): number => sum(cases.map(count));
  const no = (name: string, count: (one: Seen) => number): Figure => exactly(name, total(count), 0);
  const place = cases[0]?.one.place;
  /** Where the only clock is wrong, nobody can know better when a plan ends or a retry is due. */
  const unlessAlone = (name: string, measured: number): Figure =>
    place === 'SQLite' ? observed(name, measured) : exactly(name, measured, 0);
  const rooms = cases.flatMap(({ tally }) => tally.rooms);
  const late = rooms.map(
    ({ closesAt, closedAt = Number.POSITIVE_INFINITY }) => (closedAt - closesAt) / 1_000,
  );
  const measured = Math.round(Math.max(...late, 0) * 10) / 10;
  const lateness = { name: 'closed late by', measured, unit: ' s' };
  const deciding = cases.length * (place === 'PostgreSQL' ? 2 : 1);
  const saying = total((one) => one.saying);
  const ofLong = [
    exactly('instances that say so', saying, deciding),
    no('due and never deleted', ({ isPurged }) => Number(!isPurged)),
  ];
  const events = total(({ tally }) => tally.acknowledged.length);
  const early = total(({ deliveries }) => deliveries.early);
  const clear = total(({ tally }) => tally.wrongRefused);
  return [
    no('rows deleted too early', ({ deleted }) => deleted),
    ...(runSize === 'long' ? ofLong : []),
    observed('events', events),
    no('deliveries lost', ({ deliveries }) => deliveries.lost),
    no('repeated', ({ deliveries }) => deliveries.repeated),
    unlessAlone('retries too early', early),
    no('refused by who is right', ({ tally }) => tally.rightRefused),
    observed('by who is wrong, and says so', clear),
    no('and does not say so', ({ tally }) => tally.unclear),
    observed('rooms', rooms.length),
    unlessAlone('closed too early', late.filter((seconds) => seconds < -NEARLY_MS / 1_000).length),
    place === 'SQLite'
      ? observed(lateness.name, lateness.measured, ' s')
      : atMost({ ...lateness, bound: CLOSED_WITHIN_MS / 1_000 }),
  ];
}

/** Asks each instance and reports an event to it, once a second. */
async function call(
  stage: ClockStage,
  tally: Tally,
  { until, isWrong }: { readonly until: AbortSignal; readonly isWrong: boolean },
): Promise<void> {
  const clients = stage.instances.map(({ url }) => createSignedClient(url, stage.keys, 2));
  const over = until.aborted ? Promise.resolve() : once(until, 'abort');
  for (let round = 0; !until.aborted; round += 1) {
    for (const [index, client] of clients.entries()) {
      const isSkewed = isWrong && stage.isSkewed(index);
      count(tally, await client.call('GET', '/v1/webhooks?limit=1'), isSkewed);
      const name = `${round % 10 === 0 ? stage.refusedOnce : ''}${tally.acknowledged.length}-${index}-${performance.now()}`;
      const event = mediaWebhook(roomFinished(name), stage.livekit);
      const posted = await client.post('/livekit/webhook', event);
      if (posted.status === 200) tally.acknowledged.push(name);
      else if (!isSkewed) count(tally, posted, isSkewed);
    }
    await Promise.race([delay(ROUND_MS), over]);
  }
  await Promise.all(clients.map((client) => client.close()));
}

function count(tally: Tally, { status, json }: ServiceResponse, isSkewed: boolean): void {
  if (status === 200) return;
  const problem = String(json.type);
  const isTold = problem.endsWith(':timestamp-out-of-window') && Number.isInteger(json.serverTime);
  if (problem.endsWith(':storage-unavailable')) tally.cancelled += 1;
  else if (!isSkewed) tally.rightRefused += 1;
  else if (isTold) tally.wrongRefused += 1;
  else tally.unclear += 1;
}

/** Opens a room with a plan at the first instance, and looks when LiveKit has closed it. */
async function planRoom(stage: ClockStage, tally: Tally, name: string): Promise<void> {
  const [first] = stage.instances;
  const client = createSignedClient((first as FleetInstance).url, stage.keys, 1);
  const closesAt = Date.now() + CLOSES_IN_MS;
  const body = { name, closesAt: new Date(closesAt).toISOString(), closingWarnings: [], emptyTimeout: 600 };
  const { status } = await client.call('POST', '/v1/rooms', body);
  await client.close();
  // An instance whose clock is wrong refuses it, and says so.
  if (status !== 201) return;
  const rooms = new RoomServiceClient(stage.livekit.httpUrl, stage.livekit.apiKey, stage.livekit.apiSecret);
  const isClosed = async () => (await rooms.listRooms([name])).length === 0;
  const pace = { everyMs: LOOK_MS, withinMs: CLOSES_IN_MS + 2 * CLOSED_WITHIN_MS };
  const closedAt = (await findWithin(pace, isClosed)) === undefined ? undefined : Date.now();
  tally.rooms.push({ name, closesAt, closedAt });
}

/** Counts the instances whose `/ready` says that nothing is deleted. */
async function countSaying({ instances }: ClockStage): Promise<number> {
  const answers = await Promise.all(
    instances.map(async ({ url }) => Object(await (await fetch(`${url}/ready`)).json())),
  );
  return answers.filter(({ purgeRefusedBecause }) => /-clock$/.test(String(purgeRefusedBecause))).length;
}

async function untilDelivered(
  { receiver, refusedOnce }: ClockStage,
  { acknowledged }: Tally,
  withinMs: number,
) {
  const arrivals = () => Map.groupBy(receiver.received, ({ body }) => body.room.name);
  const count = (name: string) => arrivals().get(name)?.length ?? 0;
  const expected = (name: string) => (name.startsWith(refusedOnce) ? 2 : 1);
  await findWithin({ everyMs: 500, withinMs }, async () => {
    const seen = arrivals();
    return acknowledged.every((name) => (seen.get(name)?.length ?? 0) >= expected(name));
  });
  const gaps = acknowledged
    .filter((name) => name.startsWith(refusedOnce))
    .map((name) => arrivals().get(name) ?? [])
    .map(([first, second]) => (second?.at ?? Number.POSITIVE_INFINITY) - (first?.at ?? 0));
  return {
    lost: acknowledged.filter((name) => count(name) < expected(name)).length,
    repeated: acknowledged.filter((name) => count(name) > expected(name)).length,
    early: gaps.filter((gap) => gap < RETRY_MS - NEARLY_MS).length,
  };
}
