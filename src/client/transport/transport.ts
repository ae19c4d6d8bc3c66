import { API_KEY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../contract/canonical-request.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../../contract/idempotency.ts';
import type { RtcClientOptions, SendOptions, ServiceResponse, WireRequest } from '../client-options.ts';
import { RtcError } from '../rtc-error.ts';
import { dispatcherExchange } from './dispatcher-exchange.ts';
import { fetchExchange, type HttpExchange, type HttpResponse } from './fetch-exchange.ts';
import { isHeaderValue, parseServiceUrl, type ServiceUrl } from './request-parts.ts';
import {
  type CallState,
  errorOfResponse,
  explainConnection,
  isBroken,
  parseResponse,
  type RequestLine,
  readResponse,
} from './response.ts';
import { parseRetryAfter, pause, retryPauseMs, spreadPauseMs, type WaitDeps } from './retry.ts';
import { createWebCryptoSigner, type RequestSigner } from './sign-request.ts';

type OpenOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

type Outcome =
  | { readonly response: ServiceResponse }
  | { readonly error: unknown; readonly pauseMs: number | undefined };

const DEFAULT_TIMEOUT_MS = 30_000;

const SLOW_AFTER_MS = 5000;

const DEFAULT_MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

const DEFAULT_MAX_ATTEMPTS = 3;

const DEFAULT_USER_AGENT = 'rtc-service-client';

/** Signs and sends requests, with time limits, retries and size limits. Knows no endpoint. close() ends running calls. */
export class Transport {
  readonly #options: RtcClientOptions;
  readonly #url: ServiceUrl;
  readonly #exchange: HttpExchange;
  readonly #sign: RequestSigner;
  readonly #clock: () => number;
  readonly #closing = new AbortController();

  constructor(options: RtcClientOptions) {
    if (!isHeaderValue(options.apiKey)) {
      throw new TypeError('apiKey has a character that a header cannot contain, such as a line end');
    }
    this.#options = options;
    this.#url = parseServiceUrl(options.url);
    this.#exchange = chooseExchange(options);
    this.#sign = options.sign ?? createWebCryptoSigner(options.apiSecret);
    this.#clock = options.clock ?? Date.now;
  }

  /** Dependencies of iterations that wait. */
  get waiting(): WaitDeps {
    return { pause: this.#options.pause, random: this.#options.random };
  }

  /**
   * Returns the JSON of the response, whose shape the service's schemas guarantee. The JSON of another server is mostly not
   * an object.
   * @throws RtcError
   */
  async call<T>(method: string, path: string, options?: SendOptions): Promise<T> {
    return this.parse({ method, path }, await this.send(method, path, options));
  }

  parse<T>(line: RequestLine, response: ServiceResponse): T {
    const value = parseResponse(response, line);
    if (typeof value === 'object' && value !== null) return value as T;
    throw new RtcError({
      ...line,
      code: 'unexpected-answer',
      status: response.status,
      requestId: response.headers['x-request-id'],
      detail: `${this.#url.origin} is not this service: it responded with ${response.status} without a JSON object`,
    });
  }

  /** @throws RtcError for every response of 300 or more, and without a response */
  async send(method: string, path: string, options: SendOptions = {}): Promise<ServiceResponse> {
    const line: RequestLine = { method: method.toUpperCase(), path, origin: this.#url.origin };
    const isKeyed = line.method === 'POST' && options.signed !== false;
    const idempotencyKey = isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#tryOnce(line, { ...options, idempotencyKey }, attempt);
      if ('response' in outcome) return outcome.response;
      if (outcome.pauseMs === undefined) throw outcome.error;
      await this.#pause(line, outcome.pauseMs, options.signal);
    }
  }

  /** Returns the response, or the error and the pause before the next attempt, if there is one. */
  async #tryOnce(line: RequestLine, options: SendOptions, attempt: number): Promise<Outcome> {
    const maxAttempts = options.maxAttempts ?? this.#options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS;
    const random = this.#options.random ?? Math.random;
    try {
      const response = await this.#attempt(line, options);
      if (response.status < 300) return { response };
      const error = errorOfResponse(response, line, this.#clock());
      const { status } = response;
      const retryAfterSeconds = parseRetryAfter(response.headers['retry-after'], this.#clock());
      const subject = { ...line, status, code: error.code, attempt, maxAttempts, retryAfterSeconds };
      return { error, pauseMs: retryPauseMs(subject, random) };
    } catch (error) {
      const isLost = options.idempotencyKey !== undefined && error instanceof RtcError && isBroken(error);
      return { error, pauseMs: isLost && attempt < maxAttempts ? spreadPauseMs(attempt, random) : undefined };
    }
  }

  /**
   * Makes one attempt of a signed GET whose body the caller reads to its end or cancels. The body may have any size and take
   * any time, but the transfer must not stall. Redirects are returned as they are.
   * @throws RtcError for every response of 400 or more, and without a response
   */
  async open(path: string, options: OpenOptions = {}): Promise<HttpResponse> {
    const line: RequestLine = { method: 'GET', path };
    const { headers, ...request } = await this.#compose(line, {});
    return await this.#open(line, { ...request, headers: { ...headers, ...options.headers } }, options);
  }

  /** Like open, but for any other address, and unsigned. The query may be secret and is in no error. */
  async openForeign(url: URL, options: OpenOptions = {}): Promise<HttpResponse> {
    const line: RequestLine = { method: 'GET', path: url.pathname };
    const path = url.pathname + url.search;
    const headers = { 'user-agent': this.#options.userAgent ?? DEFAULT_USER_AGENT, ...options.headers };
    return await this.#open(
      line,
      { method: 'GET', origin: url.origin, path, headers, body: undefined },
      options,
    );
  }

  /** Ends running calls. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#exchange.close();
  }

  async #open(line: RequestLine, request: WireRequest, { signal }: OpenOptions): Promise<HttpResponse> {
    // A foreign address has its signature in its query, so the observer is not called.
    if (request.origin === this.#url.origin) this.#options.observer?.onRequest?.(request);
    this.#throwIfClosed(line);
    const deadline = new Deadline([signal, this.#closing.signal], this.#timeoutMs());
    const explain = (cause: unknown, origin: string): RtcError =>
      this.#explain(cause, line, { origin, signal, isTimedOut: deadline.isTimedOut });
    try {
      const response = await this.#exchange.send(request, deadline.signal);
      if (response.status >= 400) {
        const read = await readResponse(response, line, this.#maxBytes());
        throw errorOfResponse(read, line, this.#clock());
      }
      const origin = request.origin === this.#url.origin ? 'the service' : request.origin;
      const body = limitBody(response, deadline, (cause) => explain(cause, origin));
      return { ...response, body };
    } catch (cause) {
      deadline.close();
      throw explain(cause, request.origin);
    }
  }

  async #attempt(line: RequestLine, options: SendOptions): Promise<ServiceResponse> {
    const request = await this.#compose(line, options);
    const { observer } = this.#options;
    observer?.onRequest?.(request);
    this.#throwIfClosed(line);
    const { signal, timeoutMs = this.#timeoutMs() } = options;
    const ended = options.timeoutMs === undefined ? this.#watchSlowness(request, timeoutMs) : undefined;
    const deadline = new Deadline([signal, this.#closing.signal], timeoutMs);
    const startedAt = performance.now();
    try {
      deadline.signal.throwIfAborted();
      const raw = await this.#exchange.send(request, deadline.signal);
      const response = await readResponse(raw, line, this.#maxBytes());
      observer?.onResponse?.(request, response, performance.now() - startedAt);
      return response;
    } catch (cause) {
      const { isTimedOut } = deadline;
      throw this.#explain(cause, line, { origin: request.origin, signal, isTimedOut });
    } finally {
      ended?.abort();
      deadline.close();
    }
  }

  /** Returns a controller to abort when the request has ended. */
  #watchSlowness(request: WireRequest, timeoutMs: number): AbortController | undefined {
    const { observer, pause: wait = pause } = this.#options;
    if (observer?.onSlow === undefined) return undefined;
    const ended = new AbortController();
    void wait(SLOW_AFTER_MS, ended.signal).then(
      () => observer.onSlow?.(request, timeoutMs),
      () => undefined,
    );
    return ended;
  }

  async #compose(line: RequestLine, options: SendOptions): Promise<WireRequest> {
    const { origin, prefix } = this.#url;
    const path = this.#exchange.wirePath(origin, prefix + line.path);
    const { body, idempotencyKey } = options;
    const headers: Record<string, string> = {
      accept: 'application/json, application/problem+json, */*;q=0.1',
      'user-agent': this.#options.userAgent ?? DEFAULT_USER_AGENT,
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (idempotencyKey !== undefined) headers[IDEMPOTENCY_KEY_HEADER.toLowerCase()] = idempotencyKey;
    if (options.signed !== false) {
      const timestamp = String(Math.floor(this.#clock() / 1000));
      headers[API_KEY_HEADER] = this.#options.apiKey;
      headers[TIMESTAMP_HEADER] = timestamp;
      headers[SIGNATURE_HEADER] = await this.#sign({ method: line.method, path, timestamp, body });
    }
    return { method: line.method, origin, path, headers, body };
  }

  #explain(cause: unknown, line: RequestLine, circumstances: CallState): RtcError {
    if (cause instanceof RtcError) return cause;
    if (this.#closing.signal.aborted) {
      return new RtcError({ ...line, code: 'aborted', detail: 'the client is closed', cause });
    }
    return explainConnection(cause, line, circumstances);
  }

  #throwIfClosed(line: RequestLine): void {
    if (!this.#closing.signal.aborted) return;
    throw new RtcError({ ...line, code: 'aborted', detail: 'the client is closed' });
  }

  #timeoutMs(): number {
    return this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  #maxBytes(): number {
    return this.#options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES;
  }

  async #pause(line: RequestLine, ms: number, signal: AbortSignal | undefined): Promise<void> {
    try {
      await (this.#options.pause ?? pause)(ms, signal);
    } catch (cause) {
      throw new RtcError({ ...line, code: 'aborted', detail: 'the call was cancelled', cause });
    }
  }
}

/** A noun of the client, whose methods send requests. */
export class Noun {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected get transport(): Transport {
    return this.#transport;
  }
}

function chooseExchange({ dispatcher, fetch }: RtcClientOptions): HttpExchange {
  if (dispatcher !== undefined) return dispatcherExchange(dispatcher);
  return fetchExchange(fetch ?? ((url, init) => globalThis.fetch(url, init)));
}

/**
 * Limits the time for the body of an opened response. Time counts only while the next chunk is awaited, not while the caller
 * uses one.
 */
function limitBody(
  { body }: HttpResponse,
  deadline: Deadline,
  explain: (cause: unknown) => RtcError,
): HttpResponse['body'] {
  deadline.stop();
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    deadline.restart();
    try {
      for await (const chunk of body) {
        deadline.stop();
        yield chunk;
        deadline.restart();
      }
    } catch (cause) {
      throw explain(cause);
    } finally {
      deadline.close();
    }
  }
  return {
    [Symbol.asyncIterator]: chunks,
    cancel: async () => {
      deadline.close();
      await body.cancel();
    },
  };
}

/**
 * Combines everything that ends a call into one signal: the caller's signal, the close of the client and a time limit.
 * Written by hand, because in Node 20 and 22 AbortSignal.any keeps every signal alive for as long as the longest-lived of
 * them.
 */
class Deadline {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #timeoutMs: number;
  readonly #abort = (event: { readonly target: unknown }): void => {
    const reason = event.target instanceof AbortSignal ? event.target.reason : undefined;
    this.#controller.abort(reason);
  };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isTimedOut = false;

  constructor(sources: readonly (AbortSignal | undefined)[], timeoutMs: number) {
    this.#sources = sources.filter((source) => source !== undefined);
    this.#timeoutMs = timeoutMs;
    for (const source of this.#sources) {
      if (source.aborted) this.#controller.abort(source.reason);
      else source.addEventListener('abort', this.#abort, { once: true });
    }
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isTimedOut(): boolean {
    return this.#isTimedOut;
  }

  /** Starts the time limit again. */
  restart(): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#isTimedOut = true;
      this.#controller.abort(new DOMException('the time limit was reached', 'TimeoutError'));
    }, this.#timeoutMs);
  }

  /** Stops the time limit until a restart. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  close(): void {
    this.stop();
    for (const source of this.#sources) source.removeEventListener('abort', this.#abort);
  }
}
