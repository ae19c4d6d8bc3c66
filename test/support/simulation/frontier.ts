import type { Random } from '../random.ts';
import type { Branch } from './decisions.ts';

/** The runs that are still to be made. Those with the fewest interruptions come first, in random order. */
export class Frontier {
  readonly #random: Random;
  readonly #levels: Branch[][] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  add(branch: Branch): void {
    const level = this.#levels[branch.interruptions];
    if (level === undefined) this.#levels[branch.interruptions] = [branch];
    else level.push(branch);
  }

  take(): Branch | undefined {
    const level = this.#levels.find((branches) => branches !== undefined && branches.length > 0);
    if (level === undefined) return undefined;
    const index = this.#random.integer(level.length);
    const branch = level[index];
    const last = level.pop();
    if (last !== undefined && index < level.length) level[index] = last;
    return branch;
  }

  /** Interruptions of the next run; undefined when every run was made. */
  get interruptions(): number | undefined {
    const index = this.#levels.findIndex((branches) => branches !== undefined && branches.length > 0);
    return index === -1 ? undefined : index;
  }
}
