import { setTimeout as delay } from 'node:timers/promises';
import { MAX_UNWRITTEN_OUTCOMES } from '../../../src/server/webhooks/dispatcher/delivery-dispatcher.ts';
import { CONCURRENCY_PER_WEBHOOK } from '../../../src/server/webhooks/dispatcher/in-flight-deliveries.ts';
import type { Fleet, FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import {
  postMediaEvent,
  roomFinished,
  roomLife,
} from '../../../test/server/webhooks/support/media-webhook.ts';
import {
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../../test/server/webhooks/support/receiver.ts';
import type { Random } from '../../../test/support/random.ts';
import { atMost, exactly, type Figures, observed } from '../../figures.ts';
import { countUntilNone, untilEnoughOrSilence } from '../../support/poll.ts';

/** Prefix of rooms of which each webhook refuses the first request. */
export const REFUSED_ONCE = 'refused-once-';
/** Prefix of rooms whose events get a late response. */
export const RESPONDED_LATE = 'responded-late-';
/** Longer than the time between two renewals of a lease, and shorter than the timeout of a delivery. */
const LATE_MS = 6_000;

class Refusals {
  readonly #refused = new Set<string>();

  isDue({ path, body }: Received): boolean {
    const id = `${path} ${body.room.name}`;
    if (!body.room.name.startsWith(REFUSED_ONCE) || this.#refused.has(id)) return false;
    this.#refused.add(id);
    return true;
  }
}

type DeliveryObserverOptions = {
  readonly fleet: Fleet;
  /** The instance on which the webhooks are registered. */
  readonly instance: FleetInstance;
  readonly webhooks: number;
  /** How many of the webhooks ask for the order of each room. */
  readonly ordered?: number;
};

export type DeliveryObserver = Awaited<ReturnType<typeof startDeliveryObserver>>;

/** Receives the deliveries of several webhooks, and counts them independently of the service. */
export async function startDeliveryObserver(options: DeliveryObserverOptions) {
  const { fleet, instance, webhooks, ordered = 0 } = options;
  const secrets = new Map<string, string>();
  const counter = new Counter(secrets, { webhooks, ordered });
  const refusals = new Refusals();
  const receiver = await startReceiver((_request, response, received) => {
    if (refusals.isDue(received)) response.writeHead(503);
    else counter.count(received);
    const isLate = received.body.room.name.startsWith(RESPONDED_LATE);
    setTimeout(() => response.end(), isLate ? LATE_MS : 0);
  });
  for (let index = 0; index < webhooks; index += 1) {
    const path = `/${index}`;
    const created = await fleet.call(instance, 'POST', '/v1/webhooks', {
      url: `${receiver.url}${path}`,
      ordering: index < ordered ? 'room' : 'none',
    });
    secrets.set(path, readSecret(created));
  }
  return {
    webhooks,
    tally: (): Tally => counter,
    /** Resolves when the tally is enough, or when nothing has arrived for longer than any lease, retry or restart takes. */
    until: (isEnough: (tally: Tally) => boolean) =>
      untilEnoughOrSilence({
        ...{ count: () => counter.arrivals, isEnough: () => isEnough(counter) },
        ...{ everyMs: ARRIVALS_LOOK_MS, silenceMs: SILENCE_MS },
      }),
    close: receiver.close,
  };
}

function readSecret(created: unknown): string {
  const { secret }: { secret?: unknown } = Object(created);
  if (typeof secret !== 'string') throw new Error('the service gave no secret with the webhook');
  return secret;
}

type Tally = Omit<Counter, 'count'>;

class Counter {
  arrivals = 0;
  /** Number of different deliveries that arrived. */
  distinct = 0;
  /** Number of requests with a signature that differs from what the specifications require for their bytes. */
  wrongSignatures = 0;
  /** When the first event of each room had arrived at all webhooks, by room name. */
  readonly completeAt = new Map<string, number>();
  /** First arrivals that were not the next event of their room, at the webhooks that asked for order and at the others. */
  readonly outOfOrder = { ordered: 0, unordered: 0 };
  /** The webhooks that each event has reached, by their paths. */
  readonly #pathsOf = new Map<string, Set<string>>();
  /** How many different events of each room each webhook got. */
  readonly #eventsAt = new Map<string, number>();
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #webhooks: number;
  readonly #orderedPaths: ReadonlySet<string>;

  constructor(
    secrets: ReadonlyMap<string, string>,
    { webhooks, ordered }: { readonly webhooks: number; readonly ordered: number },
  ) {
    this.#secrets = secrets;
    this.#webhooks = webhooks;
    this.#orderedPaths = new Set(Array.from({ length: ordered }, (_, index) => `/${index}`));
  }

  count(received: Received): void {
    this.arrivals += 1;
    if (!isSigned(received, this.#secrets.get(received.path) ?? '')) this.wrongSignatures += 1;
    const { room, sequence } = received.body;
    const event = `${room.name} ${sequence}`;
    const paths = this.#pathsOf.get(event) ?? new Set();
    this.#pathsOf.set(event, paths);
    if (paths.has(received.path)) return;
    paths.add(received.path);
    this.distinct += 1;
    this.#countOrder(received);
    if (paths.size === this.#webhooks && !this.completeAt.has(room.name)) {
      this.completeAt.set(room.name, received.at);
    }
  }

  #countOrder({ path, body: { room, sequence } }: Received): void {
    const key = `${path} ${room.name}`;
    const next = (this.#eventsAt.get(key) ?? 0) + 1;
    this.#eventsAt.set(key, next);
    if (sequence !== next) this.outOfOrder[this.#orderedPaths.has(path) ? 'ordered' : 'unordered'] += 1;
  }
}

function isSigned(received: Received, secret: string): boolean {
  const { specified, standard } = expectedSignatures(received, secret);
  const { headers } = received;
  return headers['x-service-webhook-signature'] === specified && headers['webhook-signature'] === standard;
}

/** Longer than any lease, retry or restart takes. */
const SILENCE_MS = 90_000;
const ARRIVALS_LOOK_MS = 5;

const REPEAT_AFTER_MS = 100;
const POST_TIMEOUT_MS = 5_000;
/** The service publishes LiveKit's room_started as room_created, and adds room_started when the first person joins. */
const EVENTS_PER_ROOM = 18;

export type MediaEvents = ReturnType<typeof createMediaEvents>;

/** Posts events as LiveKit does: repeats each one until one of the running instances acknowledges it. The seed picks them. */
export function createMediaEvents(running: () => readonly FleetInstance[], random: Random) {
  const acknowledgedAt = new Map<string, number>();
  let rooms = 0;
  let refused = 0;
  let isClosed = false;
  const postOnce = async ({ url }: FleetInstance, event: Readonly<Record<string, unknown>>) => {
    const status = await Promise.race([postMediaEvent(url, event).catch(() => 0), delay(POST_TIMEOUT_MS, 0)]);
    if (status !== 200) refused += 1;
    return status === 200;
  };
  const postUntilAcknowledged = async (event: Readonly<Record<string, unknown>>): Promise<boolean> => {
    while (!isClosed) {
      const instances = running();
      if (instances.length > 0 && (await postOnce(random.pick(instances), event))) return true;
      await delay(REPEAT_AFTER_MS);
    }
    return false;
  };
  return {
    /** Posts the end of a room; resolves when an instance has acknowledged the event. */
    post: async (name: string) => {
      if (await postUntilAcknowledged(roomFinished(name))) acknowledgedAt.set(name, Date.now());
    },
    /** Posts all events of a room, each one when the one before it was acknowledged. */
    playRoom: async (name: string) => {
      for (const event of roomLife(name)) await postUntilAcknowledged(event);
      rooms += 1;
    },
    /** Posts the end of a room once, to this instance only. Resolves to the milliseconds until its 200, or undefined. */
    postOnceTo: async (instance: FleetInstance, name: string) => {
      const startedAt = performance.now();
      if (!(await postOnce(instance, roomFinished(name)))) return undefined;
      acknowledgedAt.set(name, Date.now());
      return performance.now() - startedAt;
    },
    /** When the end of each room was acknowledged, by room name. */
    acknowledgedAt: acknowledgedAt as ReadonlyMap<string, number>,
    /** Number of the service's events that the acknowledged ones lead to. */
    acknowledged: () => acknowledgedAt.size + rooms * EVENTS_PER_ROOM,
    /** Number of posts without a 200. Each was repeated. */
    refused: () => refused,
    /** Stops the repetitions. */
    close: () => {
      isClosed = true;
    },
  };
}

type Verdict = {
  readonly observer: DeliveryObserver;
  readonly events: MediaEvents;
  /**
   * Number of kills, and of freezes beyond the lease. After each, other instances deliver what the stopped one had claimed.
   */
  readonly stops: number;
  /** Number of webhooks with a pending or failed delivery at the end. */
  readonly unsettled: number;
};

/** Returns the figures that every chaos run has a claim about. */
export function verdict({ observer, events, stops, unsettled }: Verdict): Figures {
  const { arrivals, distinct, wrongSignatures, outOfOrder } = observer.tally();
  const acknowledged = events.acknowledged() * observer.webhooks;
  const perStop = CONCURRENCY_PER_WEBHOOK * observer.webhooks + MAX_UNWRITTEN_OUTCOMES;
  return [
    observed('deliveries of acknowledged events', acknowledged),
    exactly('lost deliveries', acknowledged - distinct, 0),
    exactly('deliveries with a wrong signature', wrongSignatures, 0),
    exactly('events out of order at the webhooks with order', outOfOrder.ordered, 0),
    observed('events out of order at the webhooks without', outOfOrder.unordered),
    exactly('webhooks with pending or failed deliveries at the end', unsettled, 0),
    atMost({
      name: `repeated deliveries (bound: ${stops} × (${CONCURRENCY_PER_WEBHOOK} × ${observer.webhooks} in flight + a batch of ${MAX_UNWRITTEN_OUTCOMES}))`,
      measured: arrivals - distinct,
      bound: stops * perStop,
    }),
    observed('posts of events that were refused and repeated', events.refused()),
  ];
}

/** Longer than a lease and a batch. */
const SETTLED = { everyMs: 250, withinMs: 60_000 };

/** Counts the webhooks with a pending or failed delivery, after the number has stopped changing. */
export function countUndelivered(fleet: Fleet, instance: FleetInstance): Promise<number> {
  return countUntilNone(SETTLED, () => undeliveredNow(fleet, instance));
}

async function undeliveredNow(fleet: Fleet, instance: FleetInstance): Promise<number> {
  const { webhooks }: { webhooks?: readonly { readonly id: string }[] } = Object(
    await fleet.call(instance, 'GET', '/v1/webhooks'),
  );
  let count = 0;
  for (const { id } of webhooks ?? []) {
    for (const status of ['pending', 'failed']) {
      const path = `/v1/webhooks/${id}/deliveries?status=${status}&limit=1`;
      const { deliveries }: { deliveries?: readonly unknown[] } = Object(
        await fleet.call(instance, 'GET', path),
      );
      if (deliveries?.length !== 0) count += 1;
    }
  }
  return count;
}

/** Causes a fault while some deliveries of the round have been made and others have not. */
export type Fault = () => Promise<void>;

type Rounds = {
  readonly observer: DeliveryObserver;
  readonly events: MediaEvents;
  readonly random: Random;
  /** Rooms that end in each round: one event each. */
  readonly endsPerRound: number;
  /** Rooms of which all events are posted in each round. */
  readonly roomsPerRound: number;
  /** One entry per round; undefined means a round without a fault. */
  readonly faults: readonly (Fault | undefined)[];
  readonly report: (line: string) => void;
};

const ROUNDS_BETWEEN_REPORTS = 5;
/** In every third round all webhooks refuse the first request of one room, so that its later events have to wait. */
const REFUSED_ROUND = 3;

/**
 * Posts the events of each round and causes its fault. Resolves when all deliveries have arrived, or none arrives any more.
 */
export async function playRounds(options: Rounds): Promise<Tally> {
  const { observer, events, random, endsPerRound, roomsPerRound, faults, report } = options;
  const posts: Promise<void>[] = [];
  for (const [round, injectFault] of faults.entries()) {
    for (let index = 0; index < endsPerRound; index += 1) posts.push(events.post(`r${round}-${index}`));
    for (let index = 0; index < roomsPerRound; index += 1) {
      const isRefused = index === 0 && round % REFUSED_ROUND === 0;
      posts.push(events.playRoom(`${isRefused ? REFUSED_ONCE : ''}life-${round}-${index}`));
    }
    const deliveries = (endsPerRound + roomsPerRound * EVENTS_PER_ROOM) * observer.webhooks;
    const moment = observer.tally().arrivals + random.integer(Math.ceil((deliveries * 4) / 5));
    await observer.until(({ arrivals }) => arrivals >= moment);
    await injectFault?.();
    if ((round + 1) % ROUNDS_BETWEEN_REPORTS === 0) {
      report(`${round + 1} of ${faults.length} rounds, ${observer.tally().arrivals} arrivals`);
    }
  }
  await Promise.all(posts);
  const expected = events.acknowledged() * observer.webhooks;
  await observer.until(({ distinct }) => distinct >= expected);
  return observer.tally();
}
