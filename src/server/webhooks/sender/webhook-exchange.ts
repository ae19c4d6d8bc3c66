import type { Dispatcher } from 'undici';
import { describeError } from './describe-error.ts';
import type { WebhookResponse } from './sender.ts';

/** Maximum bytes of a response body that are kept. The rest is not read. */
const MAX_BODY_BYTES = 4096;
/** Maximum interim responses (1xx) before the response. A receiver that sends them without end would use up the processor. */
const MAX_INTERIM_RESPONSES = 16;

/**
 * One request and its response, on undici's dispatch: a response of which 4 KiB are kept needs no stream. The timeout begins
 * at the start and includes the time to connect.
 */
export class WebhookExchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<WebhookResponse>;
  readonly #resolve: (response: WebhookResponse) => void;
  readonly #startedAt = performance.now();
  readonly #timeoutMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #interimResponses = 0;
  #statusCode: number | null = null;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;

  constructor(timeoutMs: number) {
    const { promise, resolve } = Promise.withResolvers<WebhookResponse>();
    this.response = promise;
    this.#resolve = resolve;
    this.#timeoutMs = timeoutMs;
    this.#timer = setTimeout(() => this.#timeOut(), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new ExchangeEnded());
  }

  onResponseStart(controller: Dispatcher.DispatchController, statusCode: number): void {
    if (statusCode >= 200) {
      this.#statusCode = statusCode;
      return;
    }
    this.#interimResponses += 1;
    if (this.#interimResponses <= MAX_INTERIM_RESPONSES) return;
    this.#end(`more than ${MAX_INTERIM_RESPONSES} interim responses (1xx)`);
    controller.abort(new ExchangeEnded());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver) this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= MAX_BODY_BYTES) return;
    this.#end(null);
    // The rest of the body is discarded with its connection.
    controller.abort(new ExchangeEnded());
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    this.#end(describeError(error));
  }

  #timeOut(): void {
    const what = this.#statusCode === null ? 'no response' : 'the response did not end';
    this.#end(`${what} within ${this.#timeoutMs / 1000} s`);
    this.#controller?.abort(new ExchangeEnded());
  }

  #end(error: string | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.#resolve({ statusCode: this.#statusCode, responseBody: this.#text(), error, durationMs });
  }

  #text(): string | null {
    if (this.#statusCode === null) return null;
    if (this.#size === 0) return '';
    const text = Buffer.concat(this.#chunks).subarray(0, MAX_BODY_BYTES).toString('utf8');
    // PostgreSQL stores no NUL in text.
    return text.replaceAll('\0', '\uFFFD').toWellFormed();
  }
}

class ExchangeEnded extends Error {
  override readonly name = 'ExchangeEnded';
}
