import type { Fleet, FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import {
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../test/server/webhooks/support/receiver.ts';
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
  /** When each event had arrived at all webhooks, by room name. */
  readonly completeAt: ReadonlyMap<string, number>;
};

/** Prefix of rooms whose events each webhook refuses at the first attempt. */
export const REFUSED_ONCE = 'refused-once-';

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
};

export async function startWitness({ fleet, instance, webhooks }: WitnessOptions): Promise<Witness> {
  const secrets = new Map<string, string>();
  const counter = new Counter(secrets, webhooks);
  const refusals = new Refusals();
  const receiver = await startReceiver((_request, response, received) => {
    if (refusals.isDue(received)) response.writeHead(503);
    else counter.count(received);
    response.end();
  });
  for (let index = 0; index < webhooks; index += 1) {
    const path = `/${index}`;
    const created = await fleet.call(instance, 'POST', '/v1/webhooks', { url: `${receiver.url}${path}` });
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
  readonly #pathsOf = new Map<string, Set<string>>();
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #webhooks: number;

  constructor(secrets: ReadonlyMap<string, string>, webhooks: number) {
    this.#secrets = secrets;
    this.#webhooks = webhooks;
  }

  count(received: Received): void {
    this.arrivals += 1;
    if (!isSigned(received, this.#secrets.get(received.path) ?? '')) this.wrongSignatures += 1;
    const { name } = received.body.room;
    const paths = this.#pathsOf.get(name) ?? new Set();
    this.#pathsOf.set(name, paths);
    if (paths.has(received.path)) return;
    paths.add(received.path);
    this.distinct += 1;
    if (paths.size === this.#webhooks) this.completeAt.set(name, received.at);
  }
}

function isSigned(received: Received, secret: string): boolean {
  const { specified, standard } = expectedSignatures(received, secret);
  const { headers } = received;
  return headers['x-service-webhook-signature'] === specified && headers['webhook-signature'] === standard;
}
