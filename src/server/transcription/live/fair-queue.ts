/*
 * Recognition takes turns: every track has a lane, lanes are served one after the other, and one at a time each, so
 * that its segments stay in order. Finals go before interim results. Of these a lane keeps the latest alone: when
 * recognition is slower than speech, they are what is dropped, and finals never are.
 */

export type FairQueueSettings = {
  /** How many are worked on at once. */
  readonly concurrency: number;
};

export type Lane = {
  /** Never rejects: `work` settles by itself. */
  readonly addFinal: (work: Work) => void;
  /** In place of one that has not begun; none while finals are waiting, which are newer. */
  readonly setInterim: (work: Work) => void;
  /** Resolves when all finals that are in the lane have been worked on. */
  readonly drained: () => Promise<void>;
  /** Drops what has not begun. */
  readonly close: () => void;
};

type Work = () => Promise<void>;

type LaneState = {
  finals: Work[];
  interim: Work | undefined;
  isBusy: boolean;
  readonly waiting: (() => void)[];
};

export class FairQueue {
  readonly #concurrency: number;
  /** In the order of their turns. */
  #lanes: LaneState[] = [];
  #running = 0;
  #runningInterims = 0;

  constructor({ concurrency }: FairQueueSettings) {
    this.#concurrency = concurrency;
  }

  /** Finals that wait for their turn. */
  get waiting(): number {
    return this.#lanes.reduce((sum, { finals }) => sum + finals.length, 0);
  }

  open(): Lane {
    const lane: LaneState = { finals: [], interim: undefined, isBusy: false, waiting: [] };
    this.#lanes.push(lane);
    return {
      addFinal: (work) => {
        lane.finals.push(work);
        lane.interim = undefined;
        this.#serve();
      },
      setInterim: (work) => {
        if (lane.finals.length > 0) return;
        lane.interim = work;
        this.#serve();
      },
      drained: () => new Promise((resolve) => (isIdle(lane) ? resolve() : lane.waiting.push(resolve))),
      close: () => {
        lane.finals = [];
        lane.interim = undefined;
        this.#lanes = this.#lanes.filter((one) => one !== lane);
        settle(lane);
      },
    };
  }

  #serve(): void {
    while (this.#running < this.#concurrency) {
      const lane =
        this.#lanes.find(({ isBusy, finals }) => !isBusy && finals.length > 0) ?? this.#nextInterim();
      if (lane === undefined) return;
      this.#lanes = [...this.#lanes.filter((one) => one !== lane), lane];
      void this.#work(lane);
    }
  }

  /** One place is left for finals, where there are several. */
  #nextInterim(): LaneState | undefined {
    if (this.#runningInterims >= Math.max(1, this.#concurrency - 1)) return undefined;
    return this.#lanes.find(({ isBusy, interim }) => !isBusy && interim !== undefined);
  }

  async #work(lane: LaneState): Promise<void> {
    const final = lane.finals.shift();
    const work = final ?? lane.interim;
    if (final === undefined) lane.interim = undefined;
    lane.isBusy = true;
    this.#running += 1;
    this.#runningInterims += final === undefined ? 1 : 0;
    await work?.();
    this.#runningInterims -= final === undefined ? 1 : 0;
    this.#running -= 1;
    lane.isBusy = false;
    settle(lane);
    this.#serve();
  }
}

function isIdle({ isBusy, finals }: LaneState): boolean {
  return !isBusy && finals.length === 0;
}

function settle(lane: LaneState): void {
  if (isIdle(lane)) for (const resolve of lane.waiting.splice(0)) resolve();
}
