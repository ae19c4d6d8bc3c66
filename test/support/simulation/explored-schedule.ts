import { Random } from '../random.ts';
import type { Decisions } from './decisions.ts';
import { Schedule } from './schedule.ts';

/** A schedule that asks for every decision, and remembers what each actor has learned in its present operation. */
export class ExploredSchedule extends Schedule {
  readonly #decisions: Decisions;
  readonly #startedAt: number;
  readonly #learned = new Map<string, string[]>();
  #faults: number;
  /** Who is at it since the last move, and how many decisions that took. */
  #current = '';
  #draws = 0;
  /** Draws since all faults have ended. Nothing is tried then, and everybody has a turn. */
  #peacefulDraws: number | undefined;

  constructor(decisions: Decisions, now: number, faults: number) {
    super(new Random(0), now);
    this.#decisions = decisions;
    this.#startedAt = now;
    this.#faults = faults;
  }

  /** Whether a fault happens: in all ways as long as there may be another one. */
  override oneIn(): boolean {
    this.#draws += 1;
    if (this.#faults === 0 || this.#peacefulDraws !== undefined) return false;
    if (this.#decisions.choose(2) === 0) return false;
    this.#faults -= 1;
    this.observe(this.#current, `fault ${this.#draws}`);
    return true;
  }

  /** All of a few numbers, and the first and the last one of many. */
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

  /** A response that cannot be lost arrives at once: whoever waits with it for a turn would only wait for the next one. */
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

  /** Time passes. Everybody who is at work may notice. */
  pass(ms: number): void {
    this.goOn('');
    this.clock.advance(ms);
    for (const actor of this.#learned.keys()) this.observe(actor, this.passedMs);
  }

  endFaults(): void {
    this.#peacefulDraws = 0;
  }

  /** Call it before each move: what follows from it is the actor's, or nobody's. */
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

  /** The code of an actor is at the place to which what it has learned leads, because nothing else decides about it. */
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
