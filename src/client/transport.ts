import { API_KEY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../contract/canonical-request.ts';
import { type Asked, errorOfAnswer, readAnswer } from './answer.ts';
import type { Answer, RtcClientOptions, SendOptions, WireRequest } from './client-options.ts';
import { explainConnection } from './connection-fault.ts';
import { createDispatcherExchange } from './dispatcher-exchange.ts';
import { createFetchExchange } from './fetch-exchange.ts';
import { isHeaderValue } from './header-value.ts';
import { type HttpExchange, type HttpResponse, UnsendablePathError } from './http-exchange.ts';
import { parseRetryAfter, pause, retryPauseMs } from './retry.ts';
import { RtcError } from './rtc-error.ts';
import { parseServiceUrl, type ServiceUrl } from './service-url.ts';
import { createWebCryptoSigner, type RequestSigner } from './sign-request.ts';

export type OpenOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const DEFAULT_MAX_ATTEMPTS = 3;

/** Signs, sends, times out, retries and bounds; knows no endpoint. Holds connections: close() it. */
export class Transport {
  readonly #options: RtcClientOptions;
  readonly #url: ServiceUrl;
  readonly #exchange: HttpExchange;
  readonly #sign: RequestSigner;
  #isClosed = false;
  readonly #clock: () => number;

  constructor(options: RtcClientOptions) {
    if (!isHeaderValue(options.apiKey)) {
      throw new TypeError('apiKey has a character that no header can carry, such as a line end');
    }
    this.#options = options;
    this.#url = parseServiceUrl(options.url);
    this.#clock = options.clock ?? Date.now;
    this.#sign = options.sign ?? createWebCryptoSigner(options.apiSecret);
    this.#exchange = options.exchange ?? openExchange(options);
  }

  /** @throws RtcError for every answer of 300 or more, and for none */
  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const asked: Asked = { method: method.toUpperCase(), path };
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#attempt(asked, options);
      if (answer.status < 300) return answer;
      const pauseMs = retryPauseMs(
        {
          method: asked.method,
          status: answer.status,
          attempt,
          maxAttempts: options.maxAttempts ?? this.#options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
          retryAfterSeconds: parseRetryAfter(answer.headers['retry-after'], this.#clock()),
        },
        this.#options.random ?? Math.random,
      );
      if (pauseMs === undefined) throw errorOfAnswer(answer, asked, this.#clock());
      await this.#pause(asked, pauseMs, options.signal);
    }
  }

  /**
   * One attempt of a signed GET whose body the caller reads to its end or destroys: it may be of any size and take any
   * time, but not stand still. Redirects are answered as they are.
   * @throws RtcError for every answer of 400 or more, and for none
   */
  async open(path: string, options: OpenOptions = {}): Promise<HttpResponse> {
    const asked: Asked = { method: 'GET', path };
    const { headers, ...request } = await this.#compose(asked, {});
    return await this.#open(
      asked,
      { ...request, headers: { ...headers, ...options.headers } },
      options.signal,
    );
  }

  /** The same of any other address, unsigned. Its query may be a secret and is in no error. */
  async openForeign(url: URL, options: OpenOptions = {}): Promise<HttpResponse> {
    const asked: Asked = { method: 'GET', path: url.pathname };
    const path = url.pathname + url.search;
    const headers = { 'user-agent': this.#options.userAgent ?? 'rtc-service-client', ...options.headers };
    const request = { method: 'GET', origin: url.origin, path, headers, body: undefined };
    return await this.#open(asked, request, options.signal);
  }

  async #open(asked: Asked, request: WireRequest, signal: AbortSignal | undefined): Promise<HttpResponse> {
    // What comes from elsewhere carries its signature in its address: it is not shown.
    if (request.origin === this.#url.origin) this.#options.observer?.onRequest?.(request);
    this.#requireOpen(asked);
    try {
      const idleTimeoutMs = this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
      const response = await this.#exchange.send({ ...request, signal, idleTimeoutMs });
      if (response.status < 400) return response;
      const maxBytes = this.#options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES;
      throw errorOfAnswer(await readAnswer(response, asked, maxBytes), asked, this.#clock());
    } catch (cause) {
      if (cause instanceof RtcError || cause instanceof UnsendablePathError) throw cause;
      throw this.explain(cause, asked, { origin: request.origin, signal });
    }
  }

  /** What broke a call or the reading of its body, as RtcError. */
  explain(
    cause: unknown,
    asked: Asked,
    { origin, signal }: { readonly origin: string; readonly signal: AbortSignal | undefined },
  ): RtcError {
    return explainConnection(cause, asked, { origin, signal, timeout: undefined });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#exchange.close();
  }

  /** A dispatcher that was given outlives the client: its owner closes it. */
  #requireOpen(asked: Asked): void {
    if (!this.#isClosed || this.#options.dispatcher !== undefined) return;
    throw new RtcError({ ...asked, code: 'aborted', detail: 'the client is closed' });
  }

  async #attempt(asked: Asked, options: SendOptions): Promise<Answer> {
    const request = await this.#compose(asked, options);
    const timeout = AbortSignal.timeout(options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
    this.#options.observer?.onRequest?.(request);
    this.#requireOpen(asked);
    const startedAt = performance.now();
    try {
      const response = await this.#exchange.send({ ...request, signal });
      const maxBytes = this.#options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES;
      const answer = await readAnswer(response, asked, maxBytes);
      this.#options.observer?.onAnswer?.(request, answer, performance.now() - startedAt);
      return answer;
    } catch (cause) {
      if (cause instanceof RtcError || cause instanceof UnsendablePathError) throw cause;
      throw explainConnection(cause, asked, { origin: request.origin, signal: options.signal, timeout });
    }
  }

  async #compose(asked: Asked, options: SendOptions): Promise<WireRequest> {
    const path = this.#url.prefix + asked.path;
    const headers: Record<string, string> = {
      accept: 'application/json, application/problem+json, */*;q=0.1',
      'user-agent': this.#options.userAgent ?? 'rtc-service-client',
    };
    if (options.body !== undefined) headers['content-type'] = 'application/json';
    if (options.signed !== false) {
      const timestamp = String(Math.floor(this.#clock() / 1000));
      const signable = { method: asked.method, path, timestamp, body: options.body };
      headers[API_KEY_HEADER] = this.#options.apiKey;
      headers[TIMESTAMP_HEADER] = timestamp;
      headers[SIGNATURE_HEADER] = await this.#sign(signable);
    }
    return { method: asked.method, origin: this.#url.origin, path, headers, body: options.body };
  }

  async #pause(asked: Asked, ms: number, signal: AbortSignal | undefined): Promise<void> {
    try {
      await (this.#options.pause ?? pause)(ms, signal);
    } catch (cause) {
      throw new RtcError({ ...asked, code: 'aborted', detail: 'the call was cancelled', cause });
    }
  }
}

function openExchange({ dispatcher, fetch = globalThis.fetch }: RtcClientOptions): HttpExchange {
  return dispatcher === undefined ? createFetchExchange(fetch) : createDispatcherExchange(dispatcher);
}
