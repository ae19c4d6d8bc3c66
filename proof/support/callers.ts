import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { mediaWebhook, roomFinished } from '../../test/server/webhooks/support/media-webhook.ts';
import type { Random } from '../../test/support/random.ts';
import type { ServiceResponse, SignedClient } from './signed-client.ts';

/** An operation of a caller: one or more requests. Throws a {@link WrongSuccess} if a 2xx was wrong. */
export type Operation = {
  readonly name: string;
  readonly run: (caller: Caller, id: string) => Promise<void>;
};

/** Sends one request and counts it. */
type Caller = {
  readonly call: SignedClient['call'];
  /** Reports an event as the media server does, to the endpoint that is meant for it. */
  readonly report: (name: string) => Promise<ServiceResponse>;
  readonly mediaSecret: string;
};

class WrongSuccess extends Error {}

function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new WrongSuccess(what);
}

const token: Operation = {
  name: 'tokens',
  run: async ({ call, mediaSecret }, id) => {
    const response = await call('POST', '/v1/token', {
      roomId: id,
      userId: 'ada',
      name: 'Ada',
      role: 'participant',
    });
    if (response.status !== 200) return;
    const [head, claims, signature] = String(response.json.token).split('.');
    const expected = createHmac('sha256', mediaSecret).update(`${head}.${claims}`).digest('base64url');
    must(signature === expected, 'a token has a wrong signature');
    const { sub, video } = JSON.parse(Buffer.from(claims ?? '', 'base64url').toString());
    must(sub === 'ada' && video?.room === id, 'a token is of somebody else');
  },
};

const rooms: Operation = {
  name: 'rooms',
  run: async ({ call }, id) => {
    const created = await call('POST', '/v1/rooms', { name: id, emptyTimeout: 60 });
    if (created.status !== 201) return;
    const read = await call('GET', `/v1/rooms/${id}`);
    must(read.status !== 404, 'a room that was created is not there');
    const deleted = await call('DELETE', `/v1/rooms/${id}`);
    must(deleted.status !== 404, 'a room that was created cannot be deleted');
  },
};

const webhooks: Operation = {
  name: 'webhooks',
  run: async ({ call }, id) => {
    const url = `https://example.com/${id}`;
    const created = await call('POST', '/v1/webhooks', { url, events: ['ingress_ended'] });
    if (created.status !== 201) return;
    const path = `/v1/webhooks/${created.json.id}`;
    const read = await call('GET', path);
    must(read.status !== 200 || read.json.url === url, 'a webhook was read with another address');
    must(read.status !== 404, 'a webhook that was created is not there');
    const deleted = await call('DELETE', path);
    if (deleted.status !== 204) return;
    must((await call('GET', path)).status !== 200, 'a webhook that was deleted is there');
  },
};

/** Requests pages of these lists, one after the other. */
function pages(paths: readonly string[]): Operation {
  return {
    name: 'lists',
    run: async ({ call }) => {
      for (const path of paths) {
        const response = await call('GET', path);
        const isPage = Object.values(response.json).some(Array.isArray);
        must(response.status !== 200 || isPage, `${path} answered 200 without a list`);
      }
    },
  };
}

const ROOM_LIST = '/v1/rooms?limit=50';
const STORED_LISTS = ['/v1/events?limit=50', '/v1/sessions?limit=50'];

const events: Operation = {
  name: 'events of the media server',
  run: async ({ report }, id) => {
    await report(id);
  },
};

const OPERATIONS: readonly Operation[] = [
  ...[token, token, rooms, webhooks],
  ...[pages([ROOM_LIST, ...STORED_LISTS]), events, events],
];

/** Operations that need the media server, and operations that need only the database. */
export const MEDIA_OPERATIONS: readonly Operation[] = [rooms, pages([ROOM_LIST])];
export const STORED_OPERATIONS: readonly Operation[] = [token, webhooks, pages(STORED_LISTS), events];

export type CallersOptions = {
  readonly outside: SignedClient;
  readonly inside: SignedClient;
  readonly mediaSecret: string;
  readonly random: Random;
  readonly callers: number;
  readonly pauseMs: number;
  /** Prefix of room names, so that several runs can share one media server. */
  readonly prefix?: string;
  /** Operations of the callers. Default: all. */
  readonly operations?: readonly Operation[];
  /** Resolves when the next request may be sent. If absent, requests do not wait. */
  readonly turn?: () => Promise<void>;
};

/** Runs callers until the signal. The seed picks their operations. Resolves when the last caller has ended. */
export async function callUntil(signal: AbortSignal, options: CallersOptions): Promise<Ledger> {
  const ledger: Ledger = { requests: 0, failures: [], wrongSuccesses: [], reported: [], timesMs: [] };
  const caller = createCaller(ledger, options);
  let count = 0;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      count += 1;
      const operation = options.random.pick(options.operations ?? OPERATIONS);
      await operation.run(caller, `${options.prefix ?? 'roll'}-${count}`).catch((error: unknown) => {
        if (!(error instanceof WrongSuccess)) throw error;
        ledger.wrongSuccesses.push(`${operation.name}: ${error.message}`);
      });
      await delay(options.pauseMs);
    }
  };
  await Promise.all(Array.from({ length: options.callers }, loop));
  return ledger;
}

/** Every request of the run, by its outcome. */
export type Ledger = {
  requests: number;
  /** Requests without a response, or with a status outside 2xx. A correct 404 is not included. */
  readonly failures: string[];
  readonly wrongSuccesses: string[];
  /** Rooms whose event was acknowledged with 200. */
  readonly reported: string[];
  readonly timesMs: number[];
};

function createCaller(ledger: Ledger, options: CallersOptions): Caller {
  const { outside, inside, mediaSecret } = options;
  const counted = async (name: string, send: () => Promise<ServiceResponse>): Promise<ServiceResponse> => {
    await options.turn?.();
    ledger.requests += 1;
    const startedAt = performance.now();
    const response = await send().catch(
      (error: unknown): ServiceResponse => ({ status: 0, text: String(error), json: {} }),
    );
    ledger.timesMs.push(performance.now() - startedAt);
    const isFine = (response.status >= 200 && response.status < 300) || response.status === 404;
    if (!isFine) ledger.failures.push(`${name}: ${response.status} ${response.text.slice(0, 200)}`);
    return response;
  };
  return {
    mediaSecret,
    call: (method, path, body) => counted(`${method} ${path}`, () => outside.call(method, path, body)),
    report: async (name) => {
      const send = () =>
        inside.post('/livekit/webhook', mediaWebhook(roomFinished(name), mediaKeys(options)));
      const response = await counted('POST /livekit/webhook', send);
      if (response.status === 200) ledger.reported.push(name);
      return response;
    },
  };
}

const mediaKeys = ({ mediaSecret }: CallersOptions) => ({ apiKey: MEDIA_KEY, apiSecret: mediaSecret });
export const MEDIA_KEY = 'rolling-media';
/** A failed request about rooms with a problem that says that the media server or its worker is unavailable or failed. */
const MEDIA_REFUSAL = /^\w+ \/v1\/rooms\S*: 50[234] .*"urn:problem-type:rtc:media-/;

/** Returns the requests that were refused because the media server was unavailable, with a problem that says so. */
export function mediaRefusals({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => MEDIA_REFUSAL.test(line));
}

/** Returns all other failures: those of requests that need no media server, and those without a problem that names it. */
export function otherFailures({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => !MEDIA_REFUSAL.test(line));
}

/** Returns a few lines for the person who watches the run. */
export function unexpectedLines(ledger: Ledger): readonly string[] {
  return [...otherFailures(ledger), ...ledger.wrongSuccesses].slice(0, 5).map((line) => line.slice(0, 300));
}
