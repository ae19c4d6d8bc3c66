import { Random } from '../random.ts';
import type { Decisions } from './decisions.ts';
import { Schedule } from './schedule.ts';

/** A schedule that asks for every decision, and remembers what each actor has learned in its present operation. */
export class ExploredSchedule extends Schedule {
  readonly #decisions: Decisions;
  readonly #startedAt: number;
  readonly #learned = new Map<string, string[]>();
  #faults: number;
  /** The actor of the last move, empty for none, and the number of decisions since that move. */
  #current = '';
  #draws = 0;
  /** Number of draws since all faults ended. They take the values in turn, and the explorer decides none of them. */
  #peacefulDraws: number | undefined;

  constructor(decisions: Decisions, now: number, faults: number) {
    super(new Random(0), now);
    this.#decisions = decisions;
    this.#startedAt = now;
    this.#faults = faults;
  }

  /** Whether a fault happens. The explorer decides, as long as another fault is allowed. */
  override oneIn(): boolean {
    this.#draws += 1;
    if (this.#faults === 0 || this.#peacefulDraws !== undefined) return false;
    if (this.#decisions.choose(2) === 0) return false;
    this.#faults -= 1;
    this.observe(this.#current, `fault ${this.#draws}`);
    return true;
  }

  /** The explorer decides: among all numbers if there are at most three, else between the first and the last one. */
  override integer(below: number): number {
    if (this.#peacefulDraws !== undefined) {
      this.#peacefulDraws += 1;
      return this.#peacefulDraws % below;
    }
    this.#draws += 1;
    const drawn = below <= 3 ? this.#decisions.choose(below) : this.#decisions.choose(2) * (below - 1);
    this.observe(this.#current, `${this.#draws}: ${drawn}`);
    return drawn;
  }

  override observe(actor: string, learned: unknown): void {
    this.#learned.get(actor)?.push(JSON.stringify(learned, setsAsLists) ?? '');
  }

  override turn(actor: string): Promise<void> {
    this.observe(actor, `waits, because of ${this.#current}`);
    return super.turn(actor);
  }

  /** Without faults a response arrives at once, because a turn of its own would only lead to the actor's next turn. */
  override async response(actor: string): Promise<void> {
    if (this.mayFail) await this.turn(actor);
  }

  override takeTurnAt(index: number): void {
    const { waiting } = this;
    const actor = waiting[index] ?? '';
    const place = waiting.slice(0, index).filter((other) => other === actor).length;
    this.goOn(actor);
    this.observe(actor, `turn ${place} at ${this.passedMs}`);
    super.takeTurnAt(index);
  }

  /** Lets time pass. Every actor with an operation may have noticed. */
  pass(ms: number): void {
    this.goOn('');
    this.clock.advance(ms);
    for (const actor of this.#learned.keys()) this.observe(actor, this.passedMs);
  }

  endFaults(): void {
    this.#peacefulDraws = 0;
  }

  /** Call it before each move, with the actor that continues, or with an empty text if none does. */
  goOn(actor: string): void {
    this.#current = actor;
    this.#draws = 0;
  }

  begin(actor: string, operation: string): void {
    this.goOn(actor);
    this.#learned.set(actor, [operation]);
  }

  end(actor: string): void {
    this.#learned.delete(actor);
  }

  isAtWork(actor: string): boolean {
    return this.#learned.has(actor);
  }

  get mayFail(): boolean {
    return this.#faults > 0;
  }

  get passedMs(): number {
    return this.clock.now() - this.#startedAt;
  }

  /**
   * Identifies the state of the run. What an actor has learned since its operation began stands for the place in its code,
   * because nothing else decides how far it is.
   */
  get state(): unknown {
    return [
      this.passedMs,
      this.#faults,
      [...this.#learned].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ];
  }
}

function setsAsLists(_key: string, value: unknown): unknown {
  return value instanceof Set ? [...value] : value;
}
