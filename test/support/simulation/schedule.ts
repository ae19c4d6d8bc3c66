import type { Clock } from '../../../src/server/platform/clock.ts';
import { ManualClock } from '../manual-clock.ts';
import type { Random } from '../random.ts';

type Turn = { readonly actor: string; readonly take: () => void };

/**
 * Decides by a seed who comes next. Everything that an instance does elsewhere, in the database or at the media server,
 * waits for its turn. A frozen instance gets none until it is thawed; one that has crashed gets none any more.
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

  turn(actor: string): Promise<void> {
    return new Promise((take) => {
      if (!this.#crashed.has(actor)) this.#waiting.push({ actor, take });
    });
  }

  /** Whether one of the choices in so many falls on yes. */
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

  takeAllTurns(): void {
    const free = this.#waiting.filter(({ actor }) => !this.#frozen.has(actor));
    this.#waiting = this.#waiting.filter(({ actor }) => this.#frozen.has(actor));
    for (const { take } of free) take();
  }

  /** The clock of an instance, by which it is told the time when it has its turn. */
  clockOf(actor: string, offsetMs: number): Clock {
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

  /** Everything that can go on without another turn has done so then: promises are settled before the next immediate. */
  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
