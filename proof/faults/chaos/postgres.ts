import { setTimeout as delay } from 'node:timers/promises';
import { INSERT_EVENTS } from '../../../src/server/events/events.sql.ts';
import { LOCK_FREE_NAMES } from '../../../src/server/platform/storage/postgres/engine.ts';
import { DELIVERY_LEASE_MS } from '../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { RECORD_PARCELLED } from '../../../src/server/webhooks/parcels.sql.ts';
import {
  createFleet,
  type Fleet,
  type FleetInstance,
} from '../../../test/server/webhooks/support/instance.ts';
import { fakeClock } from '../../../test/support/parts/faketime.ts';
import { type PostgresPair, startPostgresPair } from '../../../test/support/parts/postgres-pair.ts';
import { Random } from '../../../test/support/random.ts';
import type { Cleaning, Experiment, ExperimentContext, Findings, RunSize } from '../../experiment.ts';
import { atLeast, atMost, exactly, type Figure, type Figures, observed } from '../../figures.ts';
import { type DatabaseProxy, type Passage, startDatabaseProxy } from '../../support/database-proxy.ts';
import {
  countUndelivered,
  createMediaEvents,
  type DeliveryObserver,
  type Fault,
  type MediaEvents,
  playRounds,
  REFUSED_ONCE,
  RESPONDED_LATE,
  startDeliveryObserver,
  verdict,
} from './delivery-observer.ts';

const SEED = 20_260_201;
const WEBHOOKS = 10;
const ORDERED = 2;
const ENDS_PER_ROUND = 20;
const ROOMS_PER_ROUND = 2;
const FROZEN_MS = 30_000;
/** Offset of each instance's clock, in seconds. */
const CLOCKS = [0, 15, -15];

/**
 * The worst points: the instance has locks, leases or unstored outcomes. Every transaction of events and deliveries has one, and
 * so has every statement that takes or renews a lease of theirs. Another transaction of the service needs a target, or a
 * sentence in docs/proof/chaos-postgres.md that says why it has none. freeze-points.test.ts runs the operation of each point, and fails if no
 * statement of it contains the text.
 */
export const FREEZE_POINTS = [
  { name: 'holding room locks', text: LOCK_FREE_NAMES, passage: 'passes' },
  { name: 'after sending an insert and its commit', text: INSERT_EVENTS, passage: 'passes' },
  {
    name: 'storing the further deliveries of a burst of events',
    text: 'left join "events" on "events"."id" = "fanOuts"."eventId"',
    passage: 'passes',
    bait: 'burst',
  },
  { name: 'claiming deliveries', text: 'with due as materialized', passage: 'passes', bait: 'refused-once' },
  {
    name: 'claiming what waits behind a delivery',
    text: 'with ranked as materialized',
    passage: 'passes',
    bait: 'refused-once',
  },
  {
    name: 'renewing the leases of deliveries',
    text: 'update deliveries set "leaseUntil" = ',
    passage: 'passes',
    bait: 'responded-late',
  },
  {
    name: 'before renewing the leases of deliveries',
    text: 'update deliveries set "leaseUntil" = ',
    passage: 'held',
    bait: 'responded-late',
  },
  {
    name: 'between sending a delivery and storing its outcome',
    text: RECORD_PARCELLED,
    passage: 'held',
  },
  { name: 'storing outcomes of deliveries', text: RECORD_PARCELLED, passage: 'passes' },
  {
    name: 'unpacking parcels',
    text: 'delete from parcels where id',
    passage: 'passes',
    bait: 'responded-late',
  },
  {
    name: 'with locked deliveries, storing the outcomes of those in order',
    text: 'select id, "leaseOwner", "webhookId", "orderingKey", log from deliveries',
    passage: 'passes',
  },
  {
    name: 'giving back what waits behind a refused delivery',
    text: '"orderingKey" is not null and waiting = 1',
    passage: 'passes',
    bait: 'refused-once',
  },
  { name: 'locking the orders of deliveries (lock-names)', text: 'lock-names', passage: 'passes' },
  {
    name: 'letting the next delivery of a room go on',
    text: 'update deliveries set waiting = null',
    passage: 'passes',
  },
] as const satisfies readonly FreezePoint[];

/** Prefixes of room names. The receiver decides by them how it responds to an event. */
const PREFIXES = { 'refused-once': REFUSED_ONCE, 'responded-late': RESPONDED_LATE, burst: 'bait-' } as const;
const PROBE_PAUSE_MS = 200;
const BAIT_PAUSE_MS = 50;
const BURST_PAUSE_MS = 3_000;

/**
 * Number of events in a burst. Their deliveries to ten webhooks are more than one transaction stores, even if three instances
 * share the events.
 */
const BURST = 500;
/** Maximum time until an instance reaches the point. After it, an arbitrary instance is frozen. */
const PLACED_WITHIN_MS = 25_000;
export const chaosPostgres: Experiment = { name: 'chaos-postgres', run: injectClusterFaults };

type ClusterFaults = {
  readonly kill: Fault;
  readonly freezes: readonly Fault[];
  readonly restart: Fault;
  readonly failOver: Fault;
};

function schedule(runSize: RunSize, { kill, freezes, restart, failOver }: ClusterFaults): readonly Fault[] {
  if (runSize === 'short') return [kill, restart, kill, failOver];
  const kills = (count: number): readonly Fault[] => Array.from({ length: count }, () => kill);
  // A kill comes before each freeze, because the leases of the dead instance expire and have to be claimed.
  const freezing = freezes.flatMap((freeze) => [kill, freeze]);
  return [...kills(5), ...freezing, ...kills(2), restart, ...kills(2), failOver, kill];
}

async function injectClusterFaults(context: ExperimentContext): Promise<Findings> {
  const { runSize, report } = context;
  const random = new Random(SEED);
  const cluster = await startCluster(context, CLOCKS);
  const webhooks = { webhooks: WEBHOOKS, ordered: ORDERED };
  const observer = context.cleanUp(
    await startDeliveryObserver({ fleet: cluster.fleet, instance: pickAny(cluster), ...webhooks }),
  );
  const events = context.cleanUp(createMediaEvents(() => cluster.running, random));
  const frozen: Frozen[] = [];
  let kills = 0;
  const kill = async (): Promise<void> => {
    const member = random.pick(cluster.running);
    cluster.running.splice(cluster.running.indexOf(member), 1);
    await member.kill();
    kills += 1;
    await cluster.replace(member);
  };
  const causes: ClusterFaults = {
    kill,
    freezes: FREEZE_POINTS.map((point) => async () => {
      report(`freezing an instance ${point.name}`);
      const one = await freezeAt(point, { cluster, events, random, frozenMs: FROZEN_MS });
      if (!one.isPlaced) report('  no instance came to this point');
      frozen.push(one);
    }),
    restart: () => cluster.database.restart(),
    failOver: () => cluster.database.failOver(),
  };
  const faults = schedule(runSize, causes);
  const perRound = { endsPerRound: ENDS_PER_ROUND, roomsPerRound: ROOMS_PER_ROUND };
  await playRounds({ observer, events, random, ...perRound, faults, report });
  const unsettled = await countUndelivered(cluster.fleet, pickAny(cluster));
  const shared = { observer, events, stops: kills + frozen.length, unsettled };
  const total = atLeast({ name: 'deliveries', measured: observer.tally().distinct, bound: 20_000 });
  return {
    figures: [
      ...(runSize === 'long' ? [total] : []),
      ...verdict(shared),
      observed('kills of an instance', kills),
      ...(runSize === 'long' ? freezeFigures(frozen, observer, events) : []),
    ],
    versions: { PostgreSQL: cluster.database.version },
    notes: [`Seed ${SEED}.`],
  };
}

/** Returns how the running instances did during the freezes. */
function freezeFigures(frozen: readonly Frozen[], observer: DeliveryObserver, events: MediaEvents): Figures {
  const { completeAt } = observer.tally();
  const late = (name: string): number =>
    (completeAt.get(name) ?? Number.POSITIVE_INFINITY) - (events.acknowledgedAt.get(name) ?? 0);
  const withinLease = (name: string, measured: number): Figure =>
    atMost({ name, measured: Math.round(measured), bound: DELIVERY_LEASE_MS, unit: ' ms' });
  const placed = frozen.filter(({ isPlaced }) => isPlaced).length;
  const refused = frozen.reduce((sum, one) => sum + one.refused, 0);
  return [
    exactly('freezes that met their target', placed, FREEZE_POINTS.length),
    observed('events that the others refused during freezes', refused),
    ...frozen.flatMap(({ point, probes, slowestMs }) => [
      withinLease(`frozen ${point.name}: slowest acknowledgement by the others`, slowestMs),
      withinLease(`frozen ${point.name}: slowest delivery by the others`, Math.max(...probes.map(late))),
    ]),
  ];
}

function pickAny({ running: [instance] }: Cluster): Member {
  if (instance === undefined) throw new Error('no instance is running');
  return instance;
}

/** Instances that share one PostgreSQL. Each has its own database proxy and its own clock. */
type Cluster = {
  readonly fleet: Fleet;
  readonly database: PostgresPair;
  /** The running instances. Kills and replacements change this array. */
  readonly running: Member[];
  /** Starts another instance in place of a dead one, with the same proxy and clock. */
  readonly replace: (member: Member) => Promise<void>;
};

type Member = FleetInstance & { readonly proxy: DatabaseProxy; readonly clockSeconds: number };

async function startCluster({ cleanUp }: Cleaning, clocks: readonly number[]): Promise<Cluster> {
  const database = cleanUp(await startPostgresPair());
  const fleet = cleanUp(await createFleet());
  const start = async (proxy: DatabaseProxy, clockSeconds: number): Promise<Member> => {
    const instance = await fleet.start({
      DATABASE_URL: proxy.through(database.url()),
      ...(clockSeconds === 0 ? {} : fakeClock(clockSeconds)),
    });
    return { ...instance, proxy, clockSeconds };
  };
  const running: Member[] = [];
  for (const seconds of clocks) {
    const proxy = cleanUp(await startDatabaseProxy(() => Number(new URL(database.url()).port)));
    running.push(await start(proxy, seconds));
  }
  return {
    fleet,
    database,
    running,
    replace: async ({ proxy, clockSeconds }) => {
      proxy.forget();
      proxy.release();
      running.push(await start(proxy, clockSeconds));
    },
  };
}

/** A point in the work of an instance at which the run freezes its process. */
type FreezePoint = {
  readonly name: string;
  /**
   * Text that identifies the statement at this point. Where the statement has a name, it is that name, because a prepared
   * statement sends its SQL only once.
   */
  readonly text: string;
  readonly passage: Passage;
  /** Kind of events that are sent until an instance reaches the point. Default: single events that receivers accept at once. */
  readonly bait?: 'refused-once' | 'responded-late' | 'burst';
};

export type FreezePointName = (typeof FREEZE_POINTS)[number]['name'];

type FreezeOptions = {
  readonly cluster: Cluster;
  readonly events: MediaEvents;
  readonly random: Random;
  readonly frozenMs: number;
};

/** Result of a freeze, as the other instances experienced it. */
type Frozen = {
  readonly point: FreezePoint;
  /** Whether the instance reached the point. Otherwise an arbitrary instance was frozen. */
  readonly isPlaced: boolean;
  /** Rooms whose events were sent to the other instances during the freeze, in their order. */
  readonly probes: readonly string[];
  readonly slowestMs: number;
  readonly refused: number;
};

/** Freezes the first instance that reaches the point, and sends events to the others until it continues. */
async function freezeAt(point: FreezePoint, options: FreezeOptions): Promise<Frozen> {
  const { cluster, events, random, frozenMs } = options;
  const slug = point.name.replaceAll(' ', '-');
  const bait: Promise<void>[] = [];
  const prefix = PREFIXES[point.bait ?? 'burst'];
  const placed = await stopAt(point, cluster.running, async (count) => {
    const names = Array.from(
      { length: point.bait === 'burst' ? BURST : 1 },
      (_, index) => `${count}-${index}`,
    );
    const posts = names.map((name) => events.post(`${prefix}${slug}-${name}`));
    bait.push(...posts);
    if (point.bait === 'burst') await Promise.race([...posts.slice(-1), delay(BURST_PAUSE_MS)]);
  });
  const victim = placed ?? random.pick(cluster.running);
  victim.freeze();
  const until = performance.now() + frozenMs;
  const others = cluster.running.filter((member) => member !== victim);
  const probes: string[] = [];
  let slowestMs = 0;
  let refused = 0;
  for (let count = 0; performance.now() < until; count += 1) {
    const name = `probe-${slug}-${count}`;
    const startedAt = performance.now();
    while ((await events.postOnceTo(random.pick(others), name)) === undefined) refused += 1;
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    probes.push(name);
    await delay(PROBE_PAUSE_MS);
  }
  victim.thaw();
  victim.proxy.release();
  await Promise.all(bait);
  return { point, isPlaced: placed !== undefined, probes, slowestMs, refused };
}

/** Sends events until an instance reaches the point, and freezes it there. */
async function stopAt(
  point: FreezePoint,
  members: readonly Member[],
  post: (count: number) => Promise<void>,
): Promise<Member | undefined> {
  const stopped: Member[] = [];
  for (const member of members) {
    member.proxy.onNext(point.text, () => {
      if (stopped.length > 0) return 'passes';
      stopped.push(member);
      member.freeze();
      return point.passage;
    });
  }
  const deadline = performance.now() + PLACED_WITHIN_MS;
  for (let count = 0; stopped.length === 0 && performance.now() < deadline; count += 1) {
    await post(count);
    await delay(BAIT_PAUSE_MS);
  }
  for (const { proxy } of members) proxy.forget();
  return stopped[0];
}
