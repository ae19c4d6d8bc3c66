import { Random } from '../random.ts';
import type { Chooser } from './decisions.ts';
import type { Move } from './explore.ts';
import { type Channel, Schedule } from './schedule.ts';

/** A schedule that asks for every decision, and remembers what each actor has learned in its present operation. */
export class ExploredSchedule extends Schedule {
  readonly #chooser: Chooser;
  readonly #startedAt: number;
  readonly #learned = new Map<string, string[]>();
  #faults: number;
  /** The actor of the last move, empty for none, and the number of decisions since that move. */
  #current = '';
  #draws = 0;
  /** Number of draws since all faults ended. They take the values in turn, and the explorer decides none of them. */
  #peacefulDraws: number | undefined;

  constructor(chooser: Chooser, now: number, faults: number) {
    super(new Random(0), now);
    this.#chooser = chooser;
    this.#startedAt = now;
    this.#faults = faults;
  }

  /** Whether a fault happens. The explorer decides, as long as another fault is allowed. */
  override oneIn(): boolean {
    this.#draws += 1;
    if (this.#faults === 0 || this.#peacefulDraws !== undefined) return false;
    if (!this.#chooser.interrupt()) return false;
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
    const drawn = below <= 3 ? this.#chooser.choose(below) : this.#chooser.choose(2) * (below - 1);
    this.observe(this.#current, `${this.#draws}: ${drawn}`);
    return drawn;
  }

  override observe(actor: string, learned: unknown): void {
    this.#learned.get(actor)?.push(JSON.stringify(learned, setsAsLists) ?? '');
  }

  override turn(actor: string, channel?: Channel): Promise<void> {
    this.observe(actor, `waits, because of ${this.#current}`);
    return super.turn(actor, channel);
  }

  /** Without faults a response arrives at once, because a turn of its own would only lead to the actor's next turn. */
  override async response(actor: string): Promise<void> {
    if (!this.mayFail) return;
    this.observe(actor, 'its response is on its way');
    await this.turn(actor);
  }

  /**
   * The turns that can be taken, in an order that does not depend on how they came to wait. A turn that overtakes another one of
   * its channel is an interruption.
   */
  turns(): readonly Move[] {
    const named = this.waiting.map(({ actor, channel }, index) => ({
      name: readName(actor, channel),
      index,
    }));
    return named
      .toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
      .map(({ name, index }) => ({
        name,
        actor: name,
        isInterruption: named.findIndex((first) => first.name === name) !== index,
        run: () => this.takeTurnAt(index),
      }));
  }

  /** Lets the first of these times pass, and removes it. */
  passing(times: number[]): readonly Move[] {
    const run = (): void => this.pass(times.shift() ?? 0);
    return times.slice(0, 1).map((ms) => ({ name: `${ms} ms pass`, isInterruption: true, run }));
  }

  /** The same as `passing`, at a moment when nobody waits for a turn. It interrupts nothing. */
  passingCalmly(times: number[]): readonly Move[] {
    if (this.isAnyoneWaiting) return [];
    return this.passing(times).map((move) => ({ ...move, isInterruption: false }));
  }

  override takeTurnAt(index: number): void {
    const { waiting } = this;
    const actor = waiting[index]?.actor ?? '';
    const place = waiting.slice(0, index).filter((other) => other.actor === actor).length;
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

  beginFaults(): void {
    this.#peacefulDraws = undefined;
  }

  /** Call it before each move, with the actor that continues, or with an empty text if none does. */
  goOn(actor: string): void {
    this.#current = actor;
    this.#draws = 0;
  }

  begin(actor: string, operation: string): void {
    this.goOn(actor);
    this.#learned.set(actor, [`${operation} at ${this.passedMs}`]);
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

/** The statements of an actor have its name, because it makes few other moves. */
function readName(actor: string, channel: Channel): string {
  return channel === 'statement' ? actor : `${actor} (${channel})`;
}

function setsAsLists(_key: string, value: unknown): unknown {
  return value instanceof Set ? [...value] : value;
}
