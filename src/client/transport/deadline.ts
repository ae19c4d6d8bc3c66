/**
 * Combines everything that ends a call into one signal: the caller's signal, the close of the client and a time limit.
 * Written by hand, because in Node 20 and 22 AbortSignal.any keeps every signal alive for as long as the longest-lived of
 * them.
 */
export class Deadline {
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
