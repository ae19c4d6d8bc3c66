type Decision = { readonly choice: number; readonly choices: number };

/**
 * All that is left open in one run of a simulation, decided in turn. The first run takes the first choice everywhere; `next`
 * leads from one run to the following one, depth first, until every choice was taken.
 */
export class Decisions {
  #path: Decision[] = [];
  #taken = 0;

  /** Begins a run, which repeats the decisions that led to it. */
  restart(): void {
    this.#taken = 0;
  }

  /** Whether the run still repeats the decisions of the run before. */
  get isRepeating(): boolean {
    return this.#taken < this.#path.length;
  }

  /** Returns a number from 0 to `choices` - 1. */
  choose(choices: number): number {
    if (choices < 2) return 0;
    const known = this.#path[this.#taken];
    this.#taken += 1;
    if (known !== undefined) return known.choice;
    this.#path.push({ choice: 0, choices });
    return 0;
  }

  /** Changes the last decision that has another choice. Returns false when there is none any more. */
  next(): boolean {
    for (;;) {
      const last = this.#path.pop();
      if (last === undefined) return false;
      if (last.choice + 1 === last.choices) continue;
      this.#path.push({ ...last, choice: last.choice + 1 });
      return true;
    }
  }

  /** The decisions of this run, by which it can be repeated. */
  toString(): string {
    return this.#path.map(({ choice }) => choice).join('.');
  }
}
