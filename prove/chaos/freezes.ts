import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../test/support/random.ts';
import type { Cluster, Member } from './cluster.ts';
import type { Passage } from './database-proxy.ts';
import type { MediaEvents } from './media-events.ts';
import { REFUSED_ONCE } from './witness.ts';

/** A point in the work of an instance at which the run freezes its process. */
export type FreezePoint = {
  readonly name: string;
  /**
   * Text that identifies the statement at this point. It is the statement's name, because a prepared statement sends its
   * SQL only once.
   */
  readonly text: string;
  readonly passage: Passage;
  /** Whether the receiver refuses the first attempts, so that retries have to be claimed. */
  readonly needsRetries?: true;
};

/** Name of the statement that stores the outcomes of first attempts. */
const STORING = 'record-first-attempts';

/** The worst points: the instance has locks, leases or unstored outcomes. */
export const FREEZE_POINTS: readonly FreezePoint[] = [
  { name: 'holding room locks', text: 'lock-free-names', passage: 'passes' },
  { name: 'after sending an insert and its commit', text: 'insert-events', passage: 'passes' },
  { name: 'claiming deliveries', text: 'with due as materialized', passage: 'passes', needsRetries: true },
  { name: 'between sending a delivery and storing its outcome', text: STORING, passage: 'held' },
  { name: 'storing outcomes of deliveries', text: STORING, passage: 'passes' },
];

export type FreezeOptions = {
  readonly cluster: Cluster;
  readonly events: MediaEvents;
  readonly random: Random;
  readonly frozenMs: number;
};

/** What the other instances observed during a freeze. */
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
/** Within this time some transaction reaches the point. */
const PLACED_WITHIN_MS = 25_000;

/** Freezes the first instance that reaches the point, and sends events to the others until it continues. */
export async function freezeAt(point: FreezePoint, options: FreezeOptions): Promise<Frozen> {
  const { cluster, events, random, frozenMs } = options;
  const slug = point.name.replaceAll(' ', '-');
  const bait: Promise<void>[] = [];
  const prefix = point.needsRetries ? REFUSED_ONCE : 'bait-';
  const placed = await stopAt(point, cluster.living, (count) =>
    bait.push(events.post(`${prefix}${slug}-${count}`)),
  );
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
  post: (count: number) => void,
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
    post(count);
    await delay(BAIT_PAUSE_MS);
  }
  for (const { proxy } of members) proxy.forget();
  return stopped[0];
}
