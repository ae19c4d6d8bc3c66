import { Random } from '../random.ts';
import type { Chooser } from './decisions.ts';
import type { Explorable } from './explore.ts';

export type StateComparison = {
  /** Moves that were made from a state from which the same move had been made before. */
  readonly compared: number;
  /** Pairs of runs that came to the same state and went on differently after the same move. */
  readonly differing: readonly string[];
};

type Successor = { readonly state: string; readonly path: string };

/** One run in so many takes the first move wherever it can. The others take other moves more often. */
const HASTE = 8;
const MAX_MOVES = 200;

/**
 * Makes random runs, and compares how runs go on that come to the same state. `explore` does not continue a run at a state that
 * it has seen, so that `state` must contain everything that decides how the run goes on.
 */
export async function compareStates(
  create: (chooser: Chooser) => Explorable,
  { runs, seed }: { readonly runs: number; readonly seed: number },
): Promise<StateComparison> {
  const successors = new Map<string, Successor>();
  const differing: string[] = [];
  let compared = 0;
  for (let run = 0; run < runs; run += 1) {
    await makeRun(create, new Random(seed + run), (edge, successor) => {
      const known = successors.get(edge);
      successors.set(edge, known ?? successor);
      if (known === undefined) return;
      compared += 1;
      if (known.state !== successor.state) differing.push(`${known.path} | ${successor.path}`);
    });
  }
  return { compared, differing };
}

async function makeRun(
  create: (chooser: Chooser) => Explorable,
  random: Random,
  onMove: (edge: string, successor: Successor) => void,
): Promise<void> {
  const chosen: number[] = [];
  const choose = (choices: number): number => {
    const choice = random.integer(choices);
    chosen.push(choice);
    return choice;
  };
  const world = create({ choose, interrupt: () => choose(HASTE) === 0 });
  await world.start?.();
  const haste = 1 + random.integer(HASTE);
  const path: string[] = [];
  for (let moves = world.moves(); moves.length > 0 && path.length < MAX_MOVES; moves = world.moves()) {
    const before = world.state();
    const index = random.integer(haste) === 0 ? random.integer(moves.length) : 0;
    const move = moves[index];
    chosen.splice(0);
    move?.run();
    await world.settle();
    path.push(`${move?.name}`);
    onMove(`${index} ${chosen} ${before}`, { state: world.state(), path: path.join(', ') });
  }
  world.leave?.();
}
