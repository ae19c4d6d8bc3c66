/** One decision, and the decisions that led to it. */
export type Step = { readonly before: Step | undefined; readonly choice: number };

/** A run that is still to be made: it repeats these decisions first. */
export type Branch = {
  readonly step: Step;
  /** How often the run is interrupted by then. */
  readonly interruptions: number;
  /** The state and the move that follows it, if the last decision was about a move. */
  readonly edge?: string | undefined;
};

type Choices = {
  /** For each choice how often it interrupts the run. An infinite number means that the choice is not to be tried. */
  readonly interruptions: readonly number[];
  readonly findEdge?: (choice: number) => string;
};

/** Makes the decisions that a simulation leaves open. */
export type Chooser = Pick<Decisions, 'choose' | 'interrupt'>;

/**
 * Everything that is left open in one run of a simulation. The run repeats the decisions of its branch. Then it takes the
 * first choice that interrupts nothing, and each other choice becomes a branch.
 */
export class Decisions {
  readonly #repeated: readonly number[];
  readonly #open: (branch: Branch) => void;
  #taken = 0;
  #step: Step | undefined;
  #interruptions: number;

  constructor(branch: Branch | undefined, open: (branch: Branch) => void) {
    this.#repeated = listChoices(branch?.step);
    this.#interruptions = branch?.interruptions ?? 0;
    this.#open = open;
  }

  /** Whether the run still repeats the decisions of its branch. */
  get isRepeating(): boolean {
    return this.#taken < this.#repeated.length;
  }

  /** Returns a number from 0 to `choices` - 1. None of them interrupts anything. */
  choose(choices: number): number {
    return choices < 2 ? 0 : this.decide({ interruptions: Array.from({ length: choices }, () => 0) });
  }

  /** Returns whether something happens that interrupts the run. */
  interrupt(): boolean {
    return this.decide({ interruptions: [0, 1] }) === 1;
  }

  /** Returns the index of a choice. */
  decide({ interruptions, findEdge: edgeOf }: Choices): number {
    const choice = this.#repeated[this.#taken] ?? interruptions.indexOf(0);
    if (!this.isRepeating) {
      for (const [other, more] of interruptions.entries()) {
        if (other === choice || more === Number.POSITIVE_INFINITY) continue;
        this.#open({
          step: { before: this.#step, choice: other },
          interruptions: this.#interruptions + more,
          edge: edgeOf?.(other),
        });
      }
    }
    this.#taken += 1;
    this.#step = { before: this.#step, choice };
    return choice;
  }
}

function listChoices(last: Step | undefined): readonly number[] {
  const choices: number[] = [];
  for (let step = last; step !== undefined; step = step.before) choices.push(step.choice);
  return choices.reverse();
}
