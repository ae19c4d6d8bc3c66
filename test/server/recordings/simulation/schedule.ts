import { ManualClock } from '../../../support/manual-clock.ts';
import type { Random } from '../../../support/random.ts';

type Turn = { readonly actor: string; readonly take: () => void };

/**
 * Decides by a seed who comes next. Everything that an instance does elsewhere, in the database or at the media server,
 * waits for its turn. An instance that gets no turn for long is frozen; one that gets none any more has crashed.
 */
export class Schedule {
  readonly clock: ManualClock;
  readonly #random: Random;
  readonly #crashed = new Set<string>();
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
    return this.#waiting.length > 0;
  }

  takeRandomTurn(): void {
    const [turn] = this.#waiting.splice(this.#random.integer(this.#waiting.length), 1);
    turn?.take();
  }

  takeAllTurns(): void {
    for (const { take } of this.#waiting.splice(0)) take();
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
