import { pause } from '../../../client/transport/retry.ts';
import type { Event } from '../../../contract/events.ts';
import type { EventPoster, PostOutcome } from './post-event.ts';

/*
 * Sends events to a local receiver, one after the other in order. It waits for a receiver that is down: events wait in the
 * queue, and beyond its limit in the service, which stores them. The response of a receiver is final, because a developer
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

export type ForwarderOptions = {
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
