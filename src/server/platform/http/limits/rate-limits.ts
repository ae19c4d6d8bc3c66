import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../../../../contract/errors.ts';
import type { Clock } from '../../clock.ts';
import { type AdmitBody, readSecurity } from '../authentication/authenticate-request.ts';
import { type Caller, requireCaller, type Security } from '../route.ts';

/** Requests per second: under /v1 by API key, on public paths by address. 0 turns a limit off. */
export type RateLimits = { readonly api: number; readonly public: number };

/**
 * One limit per second and API key for all signed paths together, and one per address for all public paths, unknown paths
 * included.
 */
export type Rates = {
  /** Counts a request whose signature has been checked, and waits for its turn among those of its key. */
  readonly count: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;
  /** Waits until a body may be read. Refuses a large one for a key that has used up its second; nothing is counted. */
  readonly admitBody: AdmitBody;
};

/** Requests of one key that run at a time. */
const REQUESTS_AT_ONCE = 4;

/** Large requests of one key and address are read, checked and run one by one: each takes the only thread for long. */
const LARGE_BODIES_AT_ONCE = 1;
const LONGEST_BODY_WAIT_MS = 250;

export function createRates(limits: RateLimits, clock: Clock): Rates {
  const byKey = createLimiter(limits.api, clock);
  const ofOwnLimits = createRateLimiter(Number.POSITIVE_INFINITY, () => clock.monotonic());
  const byAddress = createLimiter(limits.public, clock);
  const counters: Readonly<Record<Security, (request: FastifyRequest) => RateLimitState | undefined>> = {
    signed: ({ caller, rawBody }) => {
      const { keyId, limits: own } = requireCaller(caller);
      const limit = own?.requestsPerSecond;
      const limiter = limit === undefined ? byKey : (byKey ?? ofOwnLimits);
      return limiter?.count(keyId, { cost: toCost(rawBody.length), limit });
    },
    public: ({ ip }) => byAddress?.count(toCountedAddress(ip)),
    // The media server does not retry after a 429.
    'media-server': () => undefined,
  };
  const turns = new KeyTurns(clock, REQUESTS_AT_ONCE);
  const bodyTurns = new KeyTurns(clock, LARGE_BODIES_AT_ONCE);
  const refuseBody = (reply: FastifyReply, keyId: string): Error | undefined => {
    const state = byKey?.peek(keyId);
    if (!state?.isExceeded) return undefined;
    setRateLimitHeaders(reply, state);
    return tooMany(state);
  };
  return {
    count: (request, reply, done) => {
      const security = readSecurity(request);
      const state = counters[security](request);
      if (state !== undefined) setRateLimitHeaders(reply, state);
      if (state?.isExceeded) done(tooMany(state));
      else if (security === 'signed') turns.take(requireCaller(request.caller).keyId, reply.raw, done);
      else done();
    },
    admitBody: ({ headers, ip }, reply, { keyId, done }) => {
      // A body without a declared length is read, and counted.
      if (!(Number(headers['content-length']) > BYTES_OF_COST)) return done();
      // Whoever names the key without its secret holds back nobody at another address, and others at this one not for long.
      const turn = new Promise<void>((resolve) =>
        bodyTurns.take(`${keyId} ${toCountedAddress(ip)}`, reply.raw, resolve),
      );
      void Promise.race([turn, clock.sleep(LONGEST_BODY_WAIT_MS)]).then(() => done(refuseBody(reply, keyId)));
    },
  };
}

/** A request that has run for so long waits for something else, such as the media server, and holds nobody back. */
const HELD_MS = 25;

type Waiting = { readonly response: Response; readonly begin: () => void };

type Response = Pick<ServerResponse, 'once' | 'closed'>;

type Queue = {
  /** When each of them began, oldest first. */
  readonly running: Map<Response, number>;
  readonly waiting: Waiting[];
  isTimed: boolean;
};

/**
 * Lets only some requests of one key run at a time; further ones wait for their turn. A key that sends many at once would
 * otherwise fill the connections of the database and the queue of the only thread, and others would wait behind all of them.
 */
export class KeyTurns {
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly #atOnce: number;
  readonly #queues = new Map<string, Queue>();

  constructor(clock: Pick<Clock, 'monotonic' | 'sleep'>, atOnce: number) {
    this.#clock = clock;
    this.#atOnce = atOnce;
  }

  /** Calls `begin` when it is the request's turn, which lasts until its response is sent or the connection closes. */
  take(key: string, response: Response, begin: () => void): void {
    const queue = this.#queues.get(key) ?? this.#open(key);
    if (queue.waiting.length === 0 && queue.running.size < this.#atOnce)
      this.#begin(key, queue, { response, begin });
    else {
      queue.waiting.push({ response, begin });
      this.#beginWaiting(key, queue);
    }
  }

  #open(key: string): Queue {
    const queue: Queue = { running: new Map(), waiting: [], isTimed: false };
    this.#queues.set(key, queue);
    return queue;
  }

  #beginWaiting(key: string, queue: Queue): void {
    const { waiting } = queue;
    const now = this.#clock.monotonic();
    while (waiting.length > 0 && this.#hasRoom(queue, now)) {
      const next = waiting.shift();
      if (next !== undefined) this.#begin(key, queue, next);
    }
    if (waiting.length > 0) this.#beginLater(key, queue, now);
  }

  #hasRoom({ running }: Queue, now: number): boolean {
    if (running.size < this.#atOnce) return true;
    for (const [response, startedAt] of running) {
      if (now - startedAt < HELD_MS) return false;
      running.delete(response);
      return true;
    }
    return false;
  }

  #begin(key: string, queue: Queue, { response, begin }: Waiting): void {
    // The caller of a closed one is gone.
    if (!response.closed) {
      queue.running.set(response, this.#clock.monotonic());
      response.once('close', () => {
        queue.running.delete(response);
        if (queue.waiting.length > 0) this.#beginWaiting(key, queue);
        else if (queue.running.size === 0 && this.#queues.get(key) === queue) this.#queues.delete(key);
      });
    }
    begin();
  }

  /** Looks again when the oldest one has run for long. */
  #beginLater(key: string, queue: Queue, now: number): void {
    if (queue.isTimed) return;
    queue.isTimed = true;
    const [oldest = now] = queue.running.values();
    void this.#clock.sleep(oldest + HELD_MS - now).then(() => {
      queue.isTimed = false;
      this.#beginWaiting(key, queue);
    });
  }
}

/** Returns the error to send instead of a 401 or 403. */
export type LimitUnauthorized = (error: ServiceError, request: FastifyRequest) => ServiceError;

/**
 * Counts 401 and 403 responses by address. An address that exceeds the limit of public requests gets 429 instead, and
 * its connection is closed. Requests with a valid signature are not affected.
 */
export function createUnauthorizedLimit(limits: RateLimits, clock: Clock): LimitUnauthorized {
  const byAddress = createLimiter(limits.public, clock);
  return (error, { ip, caller }) => {
    if (caller !== undefined || (error.status !== 401 && error.status !== 403)) return error;
    const state = byAddress?.count(toCountedAddress(ip));
    if (state === undefined || !state.isExceeded) return error;
    return tooMany(state, { connection: 'close' });
  };
}

/** A body of this size costs as much as a small request. */
const BYTES_OF_COST = 16 * 1024;

/** Requests with large bodies, such as tokens with metadata, take more of the only thread. */
function toCost(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_OF_COST));
}

/** A customer of a provider gets at least a /64 of IPv6, and can use a new address of it for each request. */
const COUNTED_BITS = { ipv4: 32, ipv6: 64 } as const;

function toCountedAddress(ip: string): string {
  return cutAddress(ip, COUNTED_BITS) ?? ip;
}

function createLimiter(limit: number, clock: Clock): RateLimiter | undefined {
  return limit === 0 ? undefined : createRateLimiter(limit, () => clock.monotonic());
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-05. */
function setRateLimitHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: RateLimitState): void {
  reply.header('ratelimit-limit', limit);
  reply.header('ratelimit-remaining', remaining);
  reply.header('ratelimit-reset', resetSeconds);
}

function tooMany({ limit, heldMs }: RateLimitState, headers?: Readonly<Record<string, string>>): RateLimited {
  return new RateLimited(`More than ${limit} requests in a second; try again in a second.`, heldMs, headers);
}

class RateLimited extends ServiceError {
  /** Milliseconds to wait before it is sent. */
  readonly heldMs: number;

  constructor(detail: string, heldMs: number, headers: Readonly<Record<string, string>> = {}) {
    super('rate-limited', detail, { retryable: true, headers: { 'retry-after': '1', ...headers } });
    this.heldMs = heldMs;
  }
}

/**
 * The refusals of a second that are sent at once. Those behind them are held until the second is over, so that a caller who
 * goes on without a pause takes little of the only thread. A caller who keeps to Retry-After notices nothing.
 */
const HASTY_REFUSALS = 50;

/** Limits the memory. Further ones are sent at once. */
const MAX_HELD = 4_000;

/** Calls `send` at once, or for a refusal that is held, when it is due. */
export type WhenDue = (error: ServiceError, send: () => void) => void;

export function createHold(clock: Pick<Clock, 'sleep'>): WhenDue {
  let held = 0;
  return (error, send) => {
    if (!(error instanceof RateLimited) || error.heldMs === 0 || held >= MAX_HELD) return send();
    held += 1;
    void clock.sleep(error.heldMs).then(() => {
      held -= 1;
      send();
    });
  };
}

/** Every change wakes them, and each keeps its connection. */
const MAX_WAITING_PER_KEY = 200;

/** Limits the requests of one key that wait at a time for something to happen, by the parameter `wait`. */
export class WaitingRequests {
  readonly #byKey = new Map<string, number>();

  async within<Result>({ keyId }: Caller, work: () => Promise<Result> | Result): Promise<Result> {
    const waiting = this.#byKey.get(keyId) ?? 0;
    if (waiting >= MAX_WAITING_PER_KEY) {
      const detail = `${keyId} has ${MAX_WAITING_PER_KEY} requests that wait already. One without filters can follow everything.`;
      throw new RateLimited(detail, WINDOW_MS);
    }
    this.#byKey.set(keyId, waiting + 1);
    try {
      return await work();
    } finally {
      const left = (this.#byKey.get(keyId) ?? 1) - 1;
      if (left === 0) this.#byKey.delete(keyId);
      else this.#byKey.set(keyId, left);
    }
  }
}

/*
 * Limits requests per key in fixed windows of one second. Counts synchronously: a limiter that awaits its store between
 * counting and comparing rejects a whole pipelined burst, because every request then sees the count of the last one.
 */

const WINDOW_MS = 1000;

/** Limits the memory. Beyond it the key with the oldest window is dropped. */
const MAX_KEYS = 10_000;

type RateLimitState = {
  readonly isExceeded: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** Milliseconds that a refusal is held. */
  readonly heldMs: number;
};

type Window = { readonly startedAt: number; count: number; refused: number };

type RateLimiter = {
  /** Counts a request of the key, as `cost` requests. `limit` is a lower one of this key. */
  readonly count: (key: string, request?: CountedRequest) => RateLimitState;
  /** Returns the state that a request would meet now, without counting it. */
  readonly peek: (key: string) => RateLimitState;
};

type CountedRequest = { readonly cost?: number; readonly limit?: number | undefined };

function createRateLimiter(limitOfAll: number, monotonic: () => number): RateLimiter {
  const windows = new Map<string, Window>();
  const count = (key: string, { cost = 1, limit: own = limitOfAll }: CountedRequest = {}): RateLimitState => {
    const limit = Math.min(own, limitOfAll);
    const at = monotonic();
    let window = windows.get(key);
    if (window === undefined || at - window.startedAt >= WINDOW_MS) {
      window = { startedAt: at, count: 0, refused: 0 };
      // Deleting the key first moves it to the end of the map, which is in the order of the windows.
      windows.delete(key);
      windows.set(key, window);
      forgetOldest(windows);
    }
    // A request that costs more than the limit is accepted when it is the first of its second.
    const isExceeded = window.count >= limit;
    window.count += cost;
    if (isExceeded) window.refused += 1;
    const leftMs = window.startedAt + WINDOW_MS - at;
    return {
      isExceeded,
      limit,
      remaining: Math.max(0, limit - window.count),
      resetSeconds: Math.ceil(leftMs / 1000),
      // One each millisecond, since many at once would keep the event loop busy.
      heldMs: window.refused > HASTY_REFUSALS ? leftMs + (window.refused % WINDOW_MS) : 0,
    };
  };
  return { count, peek: (key) => count(key, { cost: 0 }) };
}

function forgetOldest(windows: Map<string, Window>): void {
  if (windows.size <= MAX_KEYS) return;
  const [oldest] = windows.keys();
  if (oldest !== undefined) windows.delete(oldest);
}

/** Leading bits of an address that are kept. */
type KeptBits = { readonly ipv4: number; readonly ipv6: number };

/**
 * Returns the network of an address, such as 203.0.113.0/24; undefined for a text that is no address. An IPv4 address in the
 * form of IPv6 (::ffff:203.0.113.9) is the IPv4 address.
 */
export function cutAddress(text: string | undefined, bits: KeptBits): string | undefined {
  // A zone (fe80::1%eth0) names an interface of this machine.
  const [address = ''] = (text ?? '').split('%');
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) {
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${bits.ipv4}`)}/${bits.ipv4}`;
  }
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${bits.ipv6}`)}/${bits.ipv6}`;
}
