import { setTimeout as delay } from 'node:timers/promises';
import { INSERT_EVENTS } from '../../../src/server/events/events.sql.ts';
import { LOCK_FREE_NAMES } from '../../../src/server/platform/storage/postgres/dialect.ts';
import { RECORD_FIRST_ATTEMPTS } from '../../../src/server/webhooks/record-outcomes.sql.ts';
import type { Random } from '../../../test/support/random.ts';
import type { Cluster, Member } from './cluster.ts';
import type { Passage } from '../../support/database-proxy.ts';
import type { MediaEvents } from './media-events.ts';
import { REFUSED_ONCE, RESPONDED_LATE } from './witness.ts';

/** A point in the work of an instance at which the run freezes its process. */
export type FreezePoint = {
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

/**
 * The worst points: the instance has locks, leases or unstored outcomes. Every transaction of events and deliveries has one, and
 * so has every statement that takes or renews a lease of theirs. Another transaction of the service needs a target, or a
 * sentence in postgres.ts that says why it has none. freeze-points.test.ts runs the operation of each point, and fails if no
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
  {
    name: 'claiming deliveries',
    text: 'with due as materialized',
    passage: 'passes',
    bait: 'refused-once',
  },
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
    text: RECORD_FIRST_ATTEMPTS,
    passage: 'held',
  },
  { name: 'storing outcomes of deliveries', text: RECORD_FIRST_ATTEMPTS, passage: 'passes' },
  {
    name: 'with locked deliveries, storing the outcomes of those in order',
    text: 'select id, attempts, "leaseOwner", "webhookId", "orderingKey" from deliveries',
    passage: 'passes',
  },
  {
    name: 'giving back what waits behind a refused delivery',
    text: '"orderingKey" is not null and waiting = 1',
    passage: 'passes',
    bait: 'refused-once',
  },
  {
    name: 'locking the orders of deliveries (lock-names)',
    text: 'lock-names',
    passage: 'passes',
  },
  {
    name: 'letting the next delivery of a room go on',
    text: 'update deliveries set waiting = null',
    passage: 'passes',
  },
] as const satisfies readonly FreezePoint[];

export type FreezePointName = (typeof FREEZE_POINTS)[number]['name'];

/** Prefixes of room names. The receiver decides by them how it responds to an event. */
const PREFIXES = { 'refused-once': REFUSED_ONCE, 'responded-late': RESPONDED_LATE, burst: 'bait-' } as const;

export type FreezeOptions = {
  readonly cluster: Cluster;
  readonly events: MediaEvents;
  readonly random: Random;
  readonly frozenMs: number;
};

/** Result of a freeze, as the other instances experienced it. */
export type Frozen = {
  readonly point: FreezePoint;
  /** Whether the instance reached the point. Otherwise an arbitrary instance was frozen. */
  readonly isPlaced: boolean;
  /** Rooms whose events were sent to the other instances during the freeze, in their order. */
  readonly probes: readonly string[];
  readonly slowestMs: number;
  readonly refused: number;
};

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

/** Freezes the first instance that reaches the point, and sends events to the others until it continues. */
export async function freezeAt(point: FreezePoint, options: FreezeOptions): Promise<Frozen> {
  const { cluster, events, random, frozenMs } = options;
  const slug = point.name.replaceAll(' ', '-');
  const bait: Promise<void>[] = [];
  const prefix = PREFIXES[point.bait ?? 'burst'];
  const placed = await stopAt(point, cluster.living, async (count) => {
    const names = Array.from(
      { length: point.bait === 'burst' ? BURST : 1 },
      (_, index) => `${count}-${index}`,
    );
    const posts = names.map((name) => events.post(`${prefix}${slug}-${name}`));
    bait.push(...posts);
    if (point.bait === 'burst') await Promise.race([...posts.slice(-1), delay(BURST_PAUSE_MS)]);
  });
  const victim = placed ?? random.pick(cluster.living);
  victim.freeze();
  const until = performance.now() + frozenMs;
  const others = cluster.living.filter((member) => member !== victim);
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
