import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

export type LoopOptions = {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly log: Pick<Log, 'warn'>;
  /**
   * Does all due work and returns the milliseconds until the next round is due, or undefined to sleep until `wake`. The
   * signal aborts when the loop closes.
   */
  readonly round: (signal: AbortSignal) => Promise<number | undefined>;
  /** Logged with the error when a round rejects, such as "claiming deliveries failed; trying again". */
  readonly failureMessage: string;
  /** Pauses after rounds that reject; by default one second, doubled up to 30 s. */
  readonly backoff?: BackoffOptions;
};

export type Loop = {
  /** Starts the next round now, or right after the running one. */
  readonly wake: () => void;
  /** Starts the next round in `ms` milliseconds or earlier. */
  readonly wakeWithin: (ms: number) => void;
  /** Ends the loop. Resolves when the running round has ended. */
  readonly close: () => Promise<void>;
};

const DEFAULT_BACKOFF: BackoffOptions = { firstMs: 1_000, maxMs: 30_000 };

/**
 * Runs rounds one after the other, the first at once. Between rounds it sleeps until the next one is due or until a wake-up.
 * It measures by the monotonic clock, because a loop must not sleep longer when the machine's clock is set back.
 */
export function startLoop(options: LoopOptions): Loop {
  const { clock, round, log, failureMessage } = options;
  const closing = new AbortController();
  let wakeUp = new AbortController();
  /** Ends the current sleep, so that a shorter one can begin. */
  let reschedule = new AbortController();
  /** Monotonic milliseconds. */
  let dueAt: number | undefined;
  const running = run();
  return {
    wake: () => wakeUp.abort(),
    wakeWithin: (ms) => {
      const at = clock.monotonic() + ms;
      if (dueAt !== undefined && dueAt <= at) return;
      dueAt = at;
      reschedule.abort();
    },
    close: async () => {
      closing.abort();
      wakeUp.abort();
      await running;
    },
  };

  async function run(): Promise<void> {
    const backoff = createBackoff(options.backoff ?? DEFAULT_BACKOFF);
    while (!closing.signal.aborted) {
      // Created before the round, so that a wake-up during the round is not lost.
      wakeUp = new AbortController();
      dueAt = undefined;
      try {
        dueAt = earliest(await round(closing.signal));
        backoff.reset();
      } catch (error) {
        if (closing.signal.aborted) return;
        log.warn({ err: error }, failureMessage);
        dueAt = clock.monotonic() + backoff.next();
      }
      await sleep();
    }
  }

  /** Returns the due time of the round, or an earlier one that `wakeWithin` set during the round. */
  function earliest(pauseMs: number | undefined): number | undefined {
    if (pauseMs === undefined) return dueAt;
    return Math.min(dueAt ?? Number.POSITIVE_INFINITY, clock.monotonic() + pauseMs);
  }

  async function sleep(): Promise<void> {
    while (!wakeUp.signal.aborted && (dueAt === undefined || dueAt > clock.monotonic())) {
      reschedule = new AbortController();
      await sleepUntil(dueAt, AbortSignal.any([wakeUp.signal, reschedule.signal]));
    }
  }

  async function sleepUntil(end: number | undefined, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    if (end !== undefined) return await clock.sleep(end - clock.monotonic(), signal).catch(() => {});
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

type BackoffOptions = {
  readonly firstMs: number;
  readonly maxMs: number;
};

/** Pauses between attempts. Each is twice as long as the previous one, up to `maxMs`. */
type Backoff = {
  /** Returns the pause before the next attempt, in milliseconds. */
  readonly next: () => number;
  /** Notes a successful attempt: the next pause is `firstMs` again. */
  readonly reset: () => void;
};

export function createBackoff({ firstMs, maxMs }: BackoffOptions): Backoff {
  let pauseMs = firstMs;
  return {
    next: () => {
      const current = pauseMs;
      pauseMs = Math.min(maxMs, pauseMs * 2);
      return current;
    },
    reset: () => {
      pauseMs = firstMs;
    },
  };
}
