import { DELIVERY_LEASE_MS } from '../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { Random } from '../../../test/support/random.ts';
import {
  atLeast,
  atMost,
  exactly,
  type Figure,
  type Findings,
  type Form,
  observed,
  type ProofContext,
  type ProofPart,
} from '../../part.ts';
import { type Cluster, type Member, startCluster } from './cluster.ts';
import { FREEZE_POINTS, type Frozen, freezeAt } from './freezes.ts';
import { createMediaEvents, type MediaEvents } from './media-events.ts';
import { type Fault, playRounds } from './rounds.ts';
import { countUndelivered } from './undelivered.ts';
import { verdict } from './verdict.ts';
import { startWitness, type Witness } from './witness.ts';

const SEED = 20_260_201;
const WEBHOOKS = 10;
const ORDERED = 2;
const ENDS_PER_ROUND = 20;
const ROOMS_PER_ROUND = 2;
const FROZEN_MS = 30_000;
/** Offset of each instance's clock, in seconds. */
const CLOCKS = [0, 15, -15];

export const chaosPostgres: ProofPart = {
  name: 'chaos-postgres',
  title: 'Three instances on PostgreSQL are killed and frozen, and the database fails over',
  claim:
    'Instances share the deliveries: an event that one of them acknowledged reaches every webhook, whatever happens to that instance, to the ' +
    'database server or to the clocks. The webhooks that ask for order get the events of each room in order. A frozen instance delays the ' +
    `others for no longer than a lease (${DELIVERY_LEASE_MS / 1000} s).`,
  attack: [
    `Three instances with ${WEBHOOKS} webhooks, of which ${ORDERED} ask for the order of each room, run on a PostgreSQL server that has a synchronous streaming replica. Their clocks are wrong by ` +
      `${CLOCKS.join(' s, ')} s (libfaketime). Events arrive as in chaos-sqlite, at a random instance.`,
    'Instances are killed (SIGKILL) and replaced, one after the other. Between kills the database server is killed once and started again; ' +
      'later it is killed for good and the replica is promoted.',
    `One instance at a time is frozen (SIGSTOP) for ${FROZEN_MS / 1000} s and then continues. Each freeze has a target: a proxy between the ` +
      'instance and its database waits for a certain statement and stops the process at it. The targets are: ' +
      `${FREEZE_POINTS.map(({ name }) => name).join('; ')}. Meanwhile the other instances get five events a second, and the part measures ` +
      'how long they take to acknowledge and deliver them.',
  ],
  found: [
    'An instance that was frozen inside the transaction that stores an event held its room locks, and all other instances stopped accepting events for 30 s. Instances now store the events of rooms whose locks are free, and PostgreSQL ends a transaction that has been idle for 5 s.',
    'An instance that was frozen, and continued after others had taken over its deliveries, sent its whole queue again: 2,720 repeated deliveries. It looks at each lease before it sends now (1a5a482).',
  ],
  notClaimed: [
    'Exactly-once delivery, and the order at the other webhooks, as in chaos-sqlite.',
    'An asynchronous replica: events that were acknowledged but not yet replicated are lost with the primary.',
    'Automatic failover: somebody has to promote the replica and point the address to it.',
    'Several faults at once: one ends before the next one begins.',
    'Freezes within the other transactions and leases of the service, which have no lock that an event or a delivery waits for. Webhooks, ' +
      'their secrets, replays and tests change when somebody asks. What is old is deleted from rows that no other transaction has locked. A ' +
      'lease of the reconciler, a claim of a recording or of an Idempotency-Key is one statement, which holds no lock when it has ended. The ' +
      'claims of recordings are in the part model, and the workers of transcriptions in those of speech.',
    'Network partitions in which instances reach different database servers.',
  ],
  run: strikeCluster,
};

type Strikes = {
  readonly kill: Fault;
  readonly freezes: readonly Fault[];
  readonly restart: Fault;
  readonly failOver: Fault;
};

function schedule(form: Form, { kill, freezes, restart, failOver }: Strikes): readonly Fault[] {
  if (form === 'short') return [kill, restart, kill, failOver];
  const kills = (count: number): readonly Fault[] => Array.from({ length: count }, () => kill);
  // A kill comes before each freeze, because the leases of the dead instance expire and have to be claimed.
  const freezing = freezes.flatMap((freeze) => [kill, freeze]);
  return [...kills(5), ...freezing, ...kills(2), restart, ...kills(2), failOver, kill];
}

async function strikeCluster(context: ProofContext): Promise<Findings> {
  const { form, report } = context;
  const random = new Random(SEED);
  const cluster = await startCluster(context, CLOCKS);
  const webhooks = { webhooks: WEBHOOKS, ordered: ORDERED };
  const witness = await startWitness({ fleet: cluster.fleet, instance: anyOf(cluster), ...webhooks });
  context.cleanUp(witness.close);
  const events = createMediaEvents(() => cluster.living, random);
  context.cleanUp(events.close);
  const frozen: Frozen[] = [];
  let kills = 0;
  const kill = async (): Promise<void> => {
    const member = random.pick(cluster.living);
    cluster.living.splice(cluster.living.indexOf(member), 1);
    await member.kill();
    kills += 1;
    await cluster.replace(member);
  };
  const strikes: Strikes = {
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
  const faults = schedule(form, strikes);
  const perRound = { endsPerRound: ENDS_PER_ROUND, roomsPerRound: ROOMS_PER_ROUND };
  await playRounds({ witness, events, random, ...perRound, faults, report });
  const unsettled = await countUndelivered(cluster.fleet, anyOf(cluster));
  const shared = { witness, events, stops: kills + frozen.length, unsettled };
  const total = atLeast({ name: 'deliveries', measured: witness.tally().distinct, bound: 20_000 });
  return {
    figures: [
      ...(form === 'long' ? [total] : []),
      ...verdict(shared),
      observed('kills of an instance', kills),
      ...(form === 'long' ? freezeFigures(frozen, witness, events) : []),
    ],
    versions: { PostgreSQL: cluster.database.version },
    notes: [`Seed ${SEED}.`],
  };
}

/** Returns how the running instances did during the freezes. */
function freezeFigures(frozen: readonly Frozen[], witness: Witness, events: MediaEvents): readonly Figure[] {
  const { completeAt } = witness.tally();
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

function anyOf({ living: [instance] }: Cluster): Member {
  if (instance === undefined) throw new Error('no instance lives');
  return instance;
}
