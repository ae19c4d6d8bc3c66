import { Agent, buildConnector, type Dispatcher } from 'undici';
import { pause } from '../../../client/transport/retry.ts';
import { decodeBody } from '../../../contract/decode-body.ts';
import type { Event } from '../../../contract/events.ts';
import {
  acceptContinue,
  describeRedirect,
  isRedirect,
  isTlsError,
  isUntrustedCertificate,
} from '../../../contract/http-responses.ts';
import { isObject } from '../../../contract/unknown-value.ts';
import {
  STANDARD_SIGNATURE_HEADER,
  signBody,
  signStandard,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
} from '../../../contract/webhook-signing.ts';

/*
 * Sends events to a local receiver, one after the other in order. It waits for a receiver that is down: some events wait
 * in a queue here, and the others in the service, from which they are not read yet. The response of a receiver is final, because a developer
 * wants to see it at once. A connection that breaks before the response is tried three times.
 */

export type Waiting = {
  readonly event: Event;
  /** The cursor after the previous events; undefined for events of the first page. */
  readonly cursor: string | undefined;
};

/** An event and the outcome of its delivery, as it is printed. */
export type Forwarded = {
  readonly event: Event;
  readonly outcome: PostOutcome;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly durationMs: number;
  /** Whether the event stays in the queue. */
  readonly isTriedAgain: boolean;
};

type ForwarderOptions = {
  readonly poster: EventPoster;
  readonly url: URL;
  readonly secret: string;
  readonly clock: () => number;
  /** Ends the forwarding and drops waiting events. */
  readonly signal: AbortSignal;
  readonly onForwarded: (forwarded: Forwarded) => void;
  /** Both are called once each time: when the target stops accepting events, and when it accepts them again. */
  readonly onDown: (reason: string) => void;
  readonly onUp: (waiting: number) => void;
};

const MAX_WAITING = 1000;
const MAX_BROKEN_TRIES = 3;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 2000;

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #queue: Waiting[] = [];
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #changed = Promise.withResolvers<void>();
  #isDown = false;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    if (options.signal.aborted) this.#stop();
    options.signal.addEventListener('abort', this.#stop, { once: true });
    this.#running = this.#run();
  }

  /** Resolves when the queue has space for another event, or at the end. */
  async add(waiting: Waiting): Promise<void> {
    this.#queue.push(waiting);
    this.#notify();
    while (this.#queue.length >= MAX_WAITING && !this.#closing.signal.aborted) await this.#changed.promise;
  }

  /** Resolves when no event waits, or when the receiver is down. */
  async drain(): Promise<void> {
    while (this.#queue.length > 0 && !this.#isDown && !this.#closing.signal.aborted) {
      await this.#changed.promise;
    }
  }

  /** Returns the number of undelivered events, and the first of them. */
  async close(): Promise<{ readonly waiting: number; readonly first: Waiting | undefined }> {
    this.#options.signal.removeEventListener('abort', this.#stop);
    this.#stop();
    await this.#running;
    await this.#options.poster.close();
    return { waiting: this.#queue.length, first: this.#queue[0] };
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const first = this.#queue[0];
      if (first === undefined) {
        await this.#changed.promise;
        continue;
      }
      if (!(await this.#deliver(first.event))) return;
      this.#queue.shift();
      this.#notify();
    }
  }

  /** Returns false when the end came first. */
  async #deliver(event: Event): Promise<boolean> {
    const { signal } = this.#closing;
    let broken = 0;
    for (let attempt = 1; ; attempt += 1) {
      const forwarded = await this.#attempt(event, attempt).catch(() => undefined);
      if (forwarded === undefined) return false;
      const { outcome } = forwarded;
      if (outcome.kind === 'broken') broken += 1;
      const isTriedAgain =
        outcome.kind === 'down' || (outcome.kind === 'broken' && broken < MAX_BROKEN_TRIES);
      this.#tell({ ...forwarded, isTriedAgain });
      if (!isTriedAgain) return true;
      const ms = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempt - 1, 10), MAX_PAUSE_MS);
      if (!(await pause(ms, signal).then(yes, no))) return false;
    }
  }

  /** Rejects when the end comes first. */
  async #attempt(event: Event, attempt: number): Promise<Omit<Forwarded, 'isTriedAgain'>> {
    const { poster, url, secret, clock } = this.#options;
    const startedAt = performance.now();
    const outcome = await poster.post({ url, secret, event, nowMs: clock() }, this.#closing.signal);
    return { event, outcome, attempt, durationMs: Math.round(performance.now() - startedAt) };
  }

  #tell(forwarded: Forwarded): void {
    const { outcome } = forwarded;
    if (outcome.kind === 'down') {
      if (!this.#isDown) this.#options.onDown(outcome.reason);
      this.#isDown = true;
      this.#notify();
      return;
    }
    if (this.#isDown) this.#options.onUp(this.#queue.length);
    this.#isDown = false;
    this.#options.onForwarded(forwarded);
  }

  readonly #stop = (): void => {
    this.#closing.abort();
    this.#notify();
  };

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

const yes = (): boolean => true;
const no = (): boolean => false;

/** Time limit of the service's own deliveries. */
const TIMEOUT_MS = 10_000;
/** Shorter than the time limit, so that a host without a connection is told from a receiver that takes too long. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Bytes of a response that are kept: enough to see the error. */
const MAX_TEXT_BYTES = 4096;

/**
 * The outcome at a receiver: `down` when there was no connection, so that it cannot have received the event; `broken` when
 * the connection ended without a response, as in a restart; `failed` for all else, such as no response in time, which the
 * receiver may have acted on.
 */
export type PostOutcome =
  | {
      readonly kind: 'responded';
      readonly statusCode: number;
      readonly redirect: string | null;
      readonly text: string;
    }
  | { readonly kind: 'down' | 'broken' | 'failed'; readonly reason: string };

type Post = {
  readonly url: URL;
  readonly secret: string;
  readonly event: Event;
  readonly nowMs: number;
};

type EventPoster = {
  post(post: Post, signal: AbortSignal): Promise<PostOutcome>;
  close(): Promise<void>;
};

type PosterSettings = {
  readonly userAgent: string;
  /** Whether certificates are accepted unverified. */
  readonly skipVerify?: boolean | undefined;
};

/** Posts events to a receiver as the service does: with both signatures, without following redirects, for 10 s at most. */
export function createEventPoster({ userAgent, skipVerify = false }: PosterSettings): EventPoster {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, rejectUnauthorized: !skipVerify });
  // undici takes a response with 100 Continue, which some servers send unasked, for an error.
  const agent = new Agent({ connect: acceptContinue(connect) });
  return {
    post: (post, signal) => send(agent, { ...post, userAgent }, signal),
    close: () => agent.destroy(),
  };
}

async function send(
  agent: Agent,
  { url, userAgent, ...post }: Post & { readonly userAgent: string },
  signal: AbortSignal,
): Promise<PostOutcome> {
  const body = JSON.stringify(post.event);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...signHeaders(post, body) },
      body,
      signal: AbortSignal.any([signal, timeout]),
    });
    const { statusCode, headers } = response;
    const location = Array.isArray(headers.location) ? headers.location[0] : headers.location;
    return {
      kind: 'responded',
      statusCode,
      redirect: isRedirect(statusCode) ? describeRedirect(location, url.href) : null,
      text: await readStart(response),
    };
  } catch (error) {
    if (signal.aborted) throw error;
    if (timeout.aborted) return { kind: 'failed', reason: `no response within ${TIMEOUT_MS / 1000} s` };
    return explainFault(readCode(error), error);
  }
}

function signHeaders({ secret, event, nowMs }: Omit<Post, 'url'>, body: string): Record<string, string> {
  const timestamp = Math.floor(nowMs / 1000);
  return {
    [WEBHOOK_SIGNATURE_HEADER]: signBody(body, secret),
    [WEBHOOK_EVENT_HEADER]: event.event,
    [WEBHOOK_ID_HEADER]: event.id,
    [WEBHOOK_TIMESTAMP_HEADER]: String(timestamp),
    [STANDARD_SIGNATURE_HEADER]: signStandard({ id: event.id, timestamp, body }, secret),
  };
}

/** Reads the beginning of a response. Leaving the loop discards the rest. */
async function readStart({ body, headers }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_TEXT_BYTES) break;
  }
  const kept = Buffer.concat(chunks).subarray(0, MAX_TEXT_BYTES);
  return await decodeBody(kept, headers['content-encoding'], MAX_TEXT_BYTES);
}

const NO_CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
};

const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function explainFault(code: string, error: unknown): PostOutcome {
  const down = NO_CONNECTION[code];
  if (down !== undefined) return { kind: 'down', reason: `${down} (${code})` };
  if (BROKEN.has(code)) return { kind: 'broken', reason: 'the connection ended without a response' };
  if (code.startsWith('HPE_')) return { kind: 'failed', reason: 'the server there does not speak HTTP' };
  if (isUntrustedCertificate(code)) {
    const remedy = 'name its authority in NODE_EXTRA_CA_CERTS, or add --skip-verify on this machine';
    return { kind: 'failed', reason: `the TLS certificate is not trusted (${code}); ${remedy}` };
  }
  if (isTlsError(code)) {
    return { kind: 'failed', reason: `the TLS certificate or handshake is not valid (${code})` };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', reason: message === '' ? code : message };
}

/** Code of the error, of its cause, or of the first of several: one per address of localhost. */
function readCode(error: unknown): string {
  if (!isObject(error)) return '';
  const { code, cause, errors } = error;
  if (typeof code === 'string') return code;
  return readCode(Array.isArray(errors) ? errors[0] : cause);
}
