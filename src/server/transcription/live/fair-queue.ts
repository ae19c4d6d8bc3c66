/*
 * Shares recognition among tracks. Every track has a queue, and runs one job at a time, so that its segments stay in order. The
 * queues take turns. There are three kinds of jobs:
 *
 *   final    A segment that has ended. Finals run first, and none is dropped.
 *   early    The same for an utterance that has probably ended. It runs before interim results and may take every slot. If the
 *            utterance did end there, its final has its text already (`isReady`): it runs at once and takes no slot.
 *   interim  What was said so far. A queue keeps the latest one only, so that these are dropped when recognition is slower than
 *            speech. Where there are several slots, interim results leave one free.
 */

export type TrackQueue = {
  /** `work` must not reject. */
  readonly addFinal: (work: Work, final?: FinalOptions) => void;
  /** Replaces an interim result that has not started. Ignored while finals wait, because those are newer. */
  readonly setInterim: (work: Work) => void;
  /** Sets an early recognition. Replaces an interim or early one that has not started. */
  readonly setEarly: (work: Work) => void;
  /** Resolves when all finals in the queue are done. */
  readonly drained: () => Promise<void>;
  /** Drops jobs that have not started. */
  readonly close: () => void;
};

export type FinalOptions = {
  /** Length of the speech. */
  readonly seconds?: number;
  /** Returns whether the text is recognised already. Such work runs at once and takes no slot. */
  readonly isReady?: () => boolean;
};

type Work = () => Promise<void>;

type Final = Required<FinalOptions> & { readonly work: Work };

type Interim = { readonly work: Work; readonly isEarly: boolean };

type QueueState = {
  finals: Final[];
  interim: Interim | undefined;
  isBusy: boolean;
  readonly whenDrained: (() => void)[];
};

export class FairQueue {
  readonly #concurrency: number;
  /** Ordered by turn: the first is the next to run. */
  #queues: QueueState[] = [];
  #running = 0;
  #runningInterims = 0;

  /** @param options.concurrency how many jobs run at once, at most */
  constructor({ concurrency }: { readonly concurrency: number }) {
    this.#concurrency = concurrency;
  }

  /** Number of finals that wait for their turn. */
  get waiting(): number {
    return this.#queues.reduce((sum, { finals }) => sum + finals.length, 0);
  }

  /** Seconds of speech that wait for their turn. */
  get waitingSeconds(): number {
    const finals = this.#queues.flatMap((queue) => queue.finals);
    return finals.reduce((sum, { seconds }) => sum + seconds, 0);
  }

  open(): TrackQueue {
    const queue: QueueState = { finals: [], interim: undefined, isBusy: false, whenDrained: [] };
    this.#queues.push(queue);
    const setInterim = (interim: Interim): void => {
      if (queue.finals.length > 0) return;
      queue.interim = interim;
      this.#startNext();
    };
    return {
      addFinal: (work, { seconds = 0, isReady = () => false } = {}) => {
        queue.finals.push({ work, seconds, isReady });
        queue.interim = undefined;
        this.#startNext();
      },
      setInterim: (work) => setInterim({ work, isEarly: false }),
      setEarly: (work) => setInterim({ work, isEarly: true }),
      drained: () => new Promise((resolve) => (isIdle(queue) ? resolve() : queue.whenDrained.push(resolve))),
      close: () => {
        queue.finals = [];
        queue.interim = undefined;
        this.#queues = this.#queues.filter((one) => one !== queue);
        resolveIfIdle(queue);
      },
    };
  }

  #startNext(): void {
    for (const queue of this.#queues.filter(hasReadyFinal)) void this.#runReady(queue);
    while (this.#running < this.#concurrency) {
      const queue =
        this.#queues.find(({ isBusy, finals }) => !isBusy && finals.length > 0) ?? this.#nextInterim();
      if (queue === undefined) return;
      this.#queues = [...this.#queues.filter((one) => one !== queue), queue];
      void this.#run(queue);
    }
  }

  async #runReady(queue: QueueState): Promise<void> {
    const final = queue.finals.shift();
    queue.isBusy = true;
    await final?.work();
    this.#end(queue);
  }

  /** Finds the next early or interim result. */
  #nextInterim(): QueueState | undefined {
    const early = this.#queues.find(({ isBusy, interim }) => !isBusy && interim?.isEarly === true);
    if (early !== undefined) return early;
    // One slot stays free for finals.
    if (this.#runningInterims >= Math.max(1, this.#concurrency - 1)) return undefined;
    return this.#queues.find(({ isBusy, interim }) => !isBusy && interim !== undefined);
  }

  async #run(queue: QueueState): Promise<void> {
    const final = queue.finals.shift();
    const interim = final === undefined ? queue.interim : undefined;
    const isLimited = interim?.isEarly === false;
    if (final === undefined) queue.interim = undefined;
    queue.isBusy = true;
    this.#running += 1;
    this.#runningInterims += isLimited ? 1 : 0;
    await (final ?? interim)?.work();
    this.#runningInterims -= isLimited ? 1 : 0;
    this.#running -= 1;
    this.#end(queue);
  }

  #end(queue: QueueState): void {
    queue.isBusy = false;
    resolveIfIdle(queue);
    this.#startNext();
  }
}

function hasReadyFinal({ isBusy, finals: [next] }: QueueState): boolean {
  return !isBusy && next !== undefined && next.isReady();
}

function isIdle({ isBusy, finals }: QueueState): boolean {
  return !isBusy && finals.length === 0;
}

function resolveIfIdle(queue: QueueState): void {
  if (isIdle(queue)) for (const resolve of queue.whenDrained.splice(0)) resolve();
}
