import type { Fleet, FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import {
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../../test/server/webhooks/support/receiver.ts';
import { untilEnoughOrSilence } from './until-silence.ts';

/** Receives the deliveries of several webhooks, and counts them independently of the service. */
export type Witness = {
  readonly webhooks: number;
  readonly tally: () => Tally;
  /** Resolves when the tally is enough, or when nothing has arrived for longer than any lease, retry or restart takes. */
  readonly until: (isEnough: (tally: Tally) => boolean) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type Tally = {
  readonly arrivals: number;
  /** Number of different deliveries that arrived. */
  readonly distinct: number;
  /** Number of requests with a signature that differs from what the specifications require for their bytes. */
  readonly wrongSignatures: number;
  /** When the first event of each room had arrived at all webhooks, by room name. */
  readonly completeAt: ReadonlyMap<string, number>;
  /** First arrivals that were not the next event of their room, at the webhooks that asked for order and at the others. */
  readonly outOfOrder: { readonly ordered: number; readonly unordered: number };
};

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

export type WitnessOptions = {
  readonly fleet: Fleet;
  /** The instance on which the webhooks are registered. */
  readonly instance: FleetInstance;
  readonly webhooks: number;
  /** How many of the webhooks ask for the order of each room. */
  readonly ordered?: number;
};

export async function startWitness({
  fleet,
  instance,
  webhooks,
  ordered = 0,
}: WitnessOptions): Promise<Witness> {
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
    secrets.set(path, secretOf(created));
  }
  return {
    webhooks,
    tally: () => counter,
    until: (isEnough) =>
      untilEnoughOrSilence(
        () => counter.arrivals,
        () => isEnough(counter),
      ),
    close: receiver.close,
  };
}

function secretOf(created: unknown): string {
  const { secret }: { secret?: unknown } = Object(created);
  if (typeof secret !== 'string') throw new Error('the service gave no secret with the webhook');
  return secret;
}

class Counter implements Tally {
  arrivals = 0;
  distinct = 0;
  wrongSignatures = 0;
  readonly completeAt = new Map<string, number>();
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
