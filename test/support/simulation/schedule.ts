import type { Clock } from '../../../src/server/platform/clock.ts';
import { ManualClock } from '../manual-clock.ts';
import type { Random } from '../random.ts';

type Turn = {
  readonly actor: string;
  /** Kind of action that waits. The turns of one channel are usually taken in order. */
  readonly channel: Channel;
  readonly take: () => void;
};

export type Channel = 'statement' | 'request' | 'notification';

/**
 * Decides by a seed whose turn is next. Everything that an instance does outside, in the database or at the media server,
 * waits for its turn. A frozen instance gets no turn until it is thawed; a crashed one gets no turn any more.
 */
export class Schedule {
  readonly clock: ManualClock;
  readonly #random: Random;
  readonly #crashed = new Set<string>();
  readonly #frozen = new Set<string>();
  #waiting: Turn[] = [];

  constructor(random: Random, now: number) {
    this.clock = new ManualClock(now);
    this.#random = random;
  }

  turn(actor: string, channel: Channel = 'statement'): Promise<void> {
    return new Promise((take) => {
      if (!this.#crashed.has(actor)) this.#waiting.push({ actor, channel, take });
    });
  }

  /** Returns true for one in `choices` draws. */
  oneIn(choices: number): boolean {
    return this.#random.integer(choices) === 0;
  }

  integer(below: number): number {
    return this.#random.integer(below);
  }

  get isAnyoneWaiting(): boolean {
    return this.#waiting.some(({ actor }) => !this.#frozen.has(actor));
  }

  takeRandomTurn(): void {
    const free = this.#waiting.filter(({ actor }) => !this.#frozen.has(actor));
    const turn = free[this.#random.integer(free.length)];
    if (turn === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(turn), 1);
    turn.take();
  }

  /** The turns that actors wait for, in the order in which they asked for them. */
  get waiting(): readonly Pick<Turn, 'actor' | 'channel'>[] {
    return this.#waiting;
  }

  /** Gives the turn to the one at this place of `waiting`. */
  takeTurnAt(index: number): void {
    const [turn] = this.#waiting.splice(index, 1);
    turn?.take();
  }

  /** The turn in which the response to a statement or a request arrives. */
  response(actor: string): Promise<void> {
    return this.turn(actor);
  }

  /** Called with everything that an actor learns from others. */
  observe(_actor: string, _learned: unknown): void {}

  takeAllTurns(): void {
    const free = this.#waiting.filter(({ actor }) => !this.#frozen.has(actor));
    this.#waiting = this.#waiting.filter(({ actor }) => this.#frozen.has(actor));
    for (const { take } of free) take();
  }

  /** Returns the clock of an instance. */
  createClock(actor: string, offsetMs: number): Clock {
    const { clock } = this;
    return {
      now: () => clock.now() + offsetMs,
      monotonic: () => clock.monotonic(),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        await this.turn(actor);
      },
    };
  }

  freeze(actor: string): void {
    this.#frozen.add(actor);
  }

  thaw(actor: string): void {
    this.#frozen.delete(actor);
  }

  isFrozen(actor: string): boolean {
    return this.#frozen.has(actor);
  }

  crash(actor: string): void {
    this.#crashed.add(actor);
    this.#waiting = this.#waiting.filter((turn) => turn.actor !== actor);
  }

  hasCrashed(actor: string): boolean {
    return this.#crashed.has(actor);
  }

  /**
   * Resolves after everything that can continue without another turn has done so: promises are settled before the next
   * immediate.
   */
  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
