import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { RoomServiceClient } from 'livekit-server-sdk';
import type { EmbeddedMediaServer } from '../../../src/server/media-simulator/embedded-media-server.ts';
import {
  type EventBody,
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../../test/server/webhooks/support/receiver.ts';
import { Random } from '../../../test/support/random.ts';
import type { Cleaning } from '../../experiment.ts';
import { exactly, type Figures, none, observed } from '../../figures.ts';
import { callUntil, type Ledger } from '../../support/callers.ts';
import { countUntilNone, findWithin } from '../../support/poll.ts';
import {
  createSignedClient,
  listAll,
  type ServiceResponse,
  type SignedClient,
} from '../../support/signed-client.ts';
import { sum } from '../../support/statistics.ts';

export type Scene = {
  /** Through the balancer, if there is one: the addresses of callers and of the media server. */
  readonly url: string;
  readonly insideUrl: string;
  readonly keys: { readonly apiKey: string; readonly apiSecret: string };
  readonly media: EmbeddedMediaServer;
  readonly mediaKeys: { readonly apiKey: string; readonly apiSecret: string };
};

const SEED = 20_261_128;
const CALLERS = 4;
const PAUSE_MS = 60;
const CLOSES_IN_MS = 6_000;
const PLANNED_EVERY_MS = 700;
const BROADCAST_FOR_MS = 500;
const KEY_FOR_MS = 1_000;
const SECRET_EVERY_MS = 2_000;
/** The limit within which a key is known everywhere, or not any more. */
const KEYS_KNOWN = { everyMs: 100, withinMs: 10_000 };
/** Requests that have to agree, so that each of three instances was asked. */
const IN_A_ROW = 6;
/** Longer than the second retry of a delivery. */
const SETTLED = { everyMs: 250, withinMs: 60_000 };
const STREAM = 'rtmp://127.0.0.1:1935/live/key';
/** The connections that a rooms operation and the loops need. */
const CONNECTIONS = 16;

/** Requests of every kind, planned rooms, broadcasts, and keys and secrets that change, through whoever answers at the address. */
export async function startTraffic({ cleanUp }: Cleaning, scene: Scene) {
  const outside = cleanUp(createSignedClient(scene.url, scene.keys, CONNECTIONS));
  const inside = cleanUp(createSignedClient(scene.insideUrl, scene.keys, CONNECTIONS));
  const work = new Work(scene, outside);
  const refusedOnce = new Set<string>();
  const receiver = cleanUp(
    await startReceiver((_request, response, received) => {
      const isRefused = mustBeRefused(received) && !refusedOnce.has(identify(received));
      refusedOnce.add(identify(received));
      response.writeHead(isRefused ? 503 : 200).end();
    }),
  );
  for (const path of PATHS) await work.register(path, `${receiver.url}${path}`);
  const ledgers: Ledger[] = [];
  const random = new Random(SEED);
  await work.beginLongBroadcast();
  let runs = 0;
  return {
    /** Runs until the signal. Nothing that was begun is left undone. */
    run: async (until: AbortSignal): Promise<void> => {
      runs += 1;
      const options = { outside, inside, random, callers: CALLERS, pauseMs: PAUSE_MS, prefix: `mix-${runs}` };
      const calling = callUntil(until, { ...options, mediaSecret: scene.mediaKeys.apiSecret });
      const loops = [work.planRoom, work.broadcast, work.replaceKey, work.replaceSecret];
      await Promise.all(loops.map((loop) => repeat(until, loop)));
      ledgers.push(await calling);
    },
    /** Waits until everything has settled, and judges what became of it. */
    judge: async (report: (line: string) => void): Promise<Figures> => {
      await work.endLongBroadcast();
      const openRooms = await work.untilClosed();
      // Rooms of broadcasts end some seconds after everybody has left, so that events may come while these are counted.
      const lost = await countUntilNone(SETTLED, () => countLost(outside, receiver.received));
      const wrong = ledgers.flatMap(({ failures }) => failures);
      const untrue = ledgers.flatMap(({ wrongSuccesses }) => wrongSuccesses);
      const failures = [...work.failures, ...wrong];
      for (const line of [...failures, ...untrue].slice(0, 20)) report(line);
      const told = tellOnce(receiver.received);
      const reported = ledgers.flatMap((ledger) => ledger.reported);
      const stored = new Set(told.map(({ room }) => room.name));
      return [
        observed('requests', work.requests + sum(ledgers.map(({ requests }) => requests))),
        exactly('requests refused or failed wrongly', failures.length, 0),
        exactly('successes that were not true', untrue.length, 0),
        observed('deliveries', receiver.received.length),
        exactly('lost deliveries', lost, 0),
        none('acknowledged events that nobody got', reported, (name) => !stored.has(name)),
        exactly('deliveries failed or pending at the end', await work.countUnsettled(), 0),
        none('deliveries wrongly signed', receiver.received, (one) => !work.isSigned(one)),
        observed('sent again beyond retries', countRepeated(receiver.received)),
        observed('planned rooms', work.ends.size),
        exactly('planned rooms not closed', openRooms, 0),
        exactly('planned rooms closed before their end', countEarly(told, work.ends), 0),
        exactly('planned rooms without exactly one end that is told', countOddEnds(told, work.ends), 0),
        observed('broadcasts', work.broadcasts.size),
        exactly(
          'broadcasts without exactly one beginning and end',
          countOddBroadcasts(told, work.broadcasts),
          0,
        ),
        observed('new API keys', work.newKeys),
        observed('new secrets of webhooks', work.newSecrets),
      ];
    },
  };
}

const PATHS = ['/kept', '/rotated'];

async function repeat(until: AbortSignal, step: () => Promise<number>): Promise<void> {
  const over = until.aborted ? Promise.resolve() : once(until, 'abort');
  while (!until.aborted) await Promise.race([delay(await step(), undefined, { ref: false }), over]);
}

/** What the loops have done, and what they saw that should not be. Each step resolves to the pause after it. */
class Work {
  requests = 0;
  newKeys = 0;
  newSecrets = 0;
  readonly failures: string[] = [];
  /** When each planned room ends. */
  readonly ends = new Map<string, number>();
  readonly broadcasts = new Set<string>();
  readonly #secrets = new Map<string, string[]>();
  readonly #webhooks = new Map<string, string>();
  readonly #scene: Scene;
  readonly #client: SignedClient;

  constructor(scene: Scene, client: SignedClient) {
    this.#scene = scene;
    this.#client = client;
  }

  readonly register = async (path: string, url: string): Promise<void> => {
    const { json } = await this.#ask('POST /v1/webhooks', { url });
    this.#webhooks.set(path, String(json.id));
    this.#secrets.set(path, [String(json.secret)]);
  };

  /** Plans a room by its name, lets somebody join, and reads the plan back. */
  readonly planRoom = async (): Promise<number> => {
    const name = `planned-${this.ends.size}`;
    const end = Date.now() + CLOSES_IN_MS;
    const plan = { room: name, closesAt: new Date(end).toISOString(), closingWarnings: [] };
    const put = await this.#ask(`PUT /v1/plans/${name}`, plan);
    if (put.status >= 300) return PLANNED_EVERY_MS;
    this.ends.set(name, end);
    this.#scene.media.control.join(name, { identity: 'ada' });
    const read = await this.#ask(`GET /v1/plans/${name}`);
    if (read.status === 200 && read.json.closesAt !== plan.closesAt)
      this.failures.push(`${name} has another end`);
    return PLANNED_EVERY_MS;
  };

  readonly broadcast = async (): Promise<number> => {
    const room = `cast-${this.broadcasts.size}`;
    await this.#beginBroadcast(room);
    await delay(BROADCAST_FOR_MS);
    await this.#endBroadcast(room);
    return PLANNED_EVERY_MS;
  };

  readonly beginLongBroadcast = (): Promise<void> => this.#beginBroadcast(LONG);
  readonly endLongBroadcast = (): Promise<void> => this.#endBroadcast(LONG);

  /** Makes a key, uses it as soon as it is known, and revokes it: whoever answers has to know it, and then not any more. */
  readonly replaceKey = async (): Promise<number> => {
    this.newKeys += 1;
    const made = await this.#ask('POST /v1/keys', { name: 'mixed', scopes: ['read'] });
    if (made.status !== 201) return KEY_FOR_MS;
    const keys = { apiKey: String(made.json.id), apiSecret: String(made.json.secret) };
    const client = createSignedClient(this.#scene.url, keys, 2);
    await this.#untilAlways(client, 200);
    const until = performance.now() + KEY_FOR_MS;
    while (performance.now() < until) {
      await this.#askBy(client, 'GET /v1/events?limit=1');
      await delay(PAUSE_MS);
    }
    await this.#ask(`DELETE /v1/keys/${keys.apiKey}`);
    await this.#untilAlways(client, 401);
    await client.close();
    return 0;
  };

  readonly replaceSecret = async (): Promise<number> => {
    this.newSecrets += 1;
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    // Known before the request, because deliveries have it before the answer arrives.
    this.#secrets.get('/rotated')?.push(secret);
    await this.#ask(`PUT /v1/webhooks/${this.#webhooks.get('/rotated')}`, { secret });
    return SECRET_EVERY_MS;
  };

  /** Whether one secret that the webhook has had made a signature of each header. */
  isSigned(received: Received): boolean {
    const { headers, path } = received;
    const standard = String(headers['webhook-signature']).split(' ');
    const pairs = (this.#secrets.get(path) ?? []).map((secret) => expectedSignatures(received, secret));
    return pairs.some(
      (pair) => headers['x-service-webhook-signature'] === pair.specified && standard.includes(pair.standard),
    );
  }

  /** Counts the planned rooms that are open when every end has long passed. */
  async untilClosed(): Promise<number> {
    const { media, mediaKeys } = this.#scene;
    const rooms = new RoomServiceClient(media.url, mediaKeys.apiKey, mediaKeys.apiSecret);
    const countOpen = async () => (await rooms.listRooms()).filter(({ name }) => this.ends.has(name)).length;
    return await countUntilNone(SETTLED, countOpen);
  }

  countUnsettled(): Promise<number> {
    return countUntilNone(SETTLED, async () => {
      let found = 0;
      for (const id of this.#webhooks.values()) {
        for (const status of ['pending', 'failed']) {
          const { json } = await this.#ask(`GET /v1/webhooks/${id}/deliveries?status=${status}&limit=100`);
          found += Array.isArray(json.deliveries) ? json.deliveries.length : 1;
        }
      }
      return found;
    });
  }

  async #beginBroadcast(room: string): Promise<void> {
    this.broadcasts.add(room);
    this.#scene.media.control.join(room, { identity: 'ada' });
    this.#scene.media.control.publish(room, 'ada');
    await this.#ask(`POST /v1/rooms/${room}/broadcast/start`, { urls: [STREAM] });
  }

  async #endBroadcast(room: string): Promise<void> {
    await this.#ask(`POST /v1/rooms/${room}/broadcast/stop`);
    const hasEnded = async (): Promise<boolean> => {
      const { broadcast }: { readonly broadcast?: { readonly endedAt?: unknown } } = Object(
        (await this.#ask(`GET /v1/rooms/${room}/broadcast`)).json,
      );
      return typeof broadcast?.endedAt === 'string';
    };
    const ended = await findWithin({ everyMs: 200, withinMs: 30_000 }, hasEnded);
    if (ended === undefined) this.failures.push(`the broadcast of ${room} does not end`);
    this.#scene.media.control.leave(room, 'ada');
  }

  async #untilAlways(client: SignedClient, status: number): Promise<void> {
    let inRow = 0;
    const isKnown = await findWithin(KEYS_KNOWN, async () => {
      const answer = await client.call('GET', '/v1/events?limit=1').catch(() => undefined);
      inRow = answer?.status === status ? inRow + 1 : 0;
      return inRow === IN_A_ROW;
    });
    if (!isKnown) this.failures.push(`a key does not get ${status} from everybody in time`);
  }

  #ask(request: string, body?: object): Promise<ServiceResponse> {
    return this.#askBy(this.#client, request, body);
  }

  async #askBy(client: SignedClient, request: string, body?: object): Promise<ServiceResponse> {
    const [method = '', path = ''] = request.split(' ');
    this.requests += 1;
    const response = await client
      .call(method as Parameters<SignedClient['call']>[0], path, body)
      .catch((error: unknown): ServiceResponse => ({ status: 0, text: String(error), json: {} }));
    if (response.status < 200 || response.status >= 300)
      this.failures.push(`${request}: ${response.status} ${response.text.slice(0, 200)}`);
    return response;
  }
}

/** A broadcast that begins before the first replacement and ends after the last one. */
const LONG = 'cast-long';

/** One event in 32 (ids are base 32) is refused once, so that its retry may be another build's. */
function mustBeRefused({ body }: Received): boolean {
  return body.id.endsWith('7');
}

function identify({ path, body }: Received): string {
  return `${path} ${body.id}`;
}

/** Counts the stored events that each webhook lacks. */
async function countLost(client: SignedClient, received: readonly Received[]): Promise<number> {
  const arrived = new Set(received.map(identify));
  let lost = 0;
  for await (const { id } of listAll<{ readonly id: string }>(client, '/v1/events?limit=500', 'events'))
    lost += PATHS.filter((path) => !arrived.has(`${path} ${id}`)).length;
  return lost;
}

function countRepeated(received: readonly Received[]): number {
  const arrivals = Map.groupBy(received, identify);
  const expected = ([first]: readonly Received[]): number =>
    first !== undefined && mustBeRefused(first) ? 2 : 1;
  return sum([...arrivals.values()].map((all) => all.length - expected(all)));
}

type Told = EventBody & {
  readonly closing?: { readonly secondsLeft: number };
  readonly closeReason?: string;
};

/** Returns each event once, as the first webhook got it. */
function tellOnce(received: readonly Received[]): readonly Told[] {
  const ofFirst = received.filter(({ path }) => path === PATHS[0]);
  return [...new Map(ofFirst.map(({ body }): [string, Told] => [body.id, body])).values()];
}

function countEarly(told: readonly Told[], ends: Work['ends']): number {
  const finished = told.filter(({ event, room }) => event === 'room_finished' && ends.has(room.name));
  return finished.filter(({ room, timestamp }) => Date.parse(timestamp) < (ends.get(room.name) ?? 0) - 1_000)
    .length;
}

function countOddEnds(told: readonly Told[], ends: Work['ends']): number {
  const closing = countByRoom(told.filter(({ closing }) => closing?.secondsLeft === 0));
  const finished = countByRoom(told.filter(({ closeReason }) => closeReason === 'closes_at'));
  return [...ends.keys()].filter((name) => closing.get(name) !== 1 || finished.get(name) !== 1).length;
}

function countOddBroadcasts(told: readonly Told[], rooms: Work['broadcasts']): number {
  const [begun, ended] = ['broadcast_started', 'broadcast_ended'].map((name) =>
    countByRoom(told.filter(({ event }) => event === name)),
  );
  return [...rooms].filter((room) => begun?.get(room) !== 1 || ended?.get(room) !== 1).length;
}

function countByRoom(told: readonly Told[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(told, ({ room }) => room.name)].map(([name, all]) => [name, all.length]));
}
