import { createHash } from 'node:crypto';
import { Random } from '../random.ts';
import { type Branch, Decisions } from './decisions.ts';
import { Frontier } from './frontier.ts';

/** A simulation that can be run again and again, with other decisions each time. */
export type Explorable = {
  /** Everything that decides how the run can continue, including the data that its programs have read. */
  readonly state: () => string;
  /** Resolves when the programs are ready for the first move. */
  readonly start?: () => Promise<void>;
  /** The moves that are possible now, in an order that depends only on the state. Empty when the run is over. */
  readonly moves: () => readonly Move[];
  /** Resolves when everything that follows from a move without another one has happened. */
  readonly settle: () => Promise<void>;
  /** The rules that are broken now. */
  readonly wrong: () => readonly string[];
  /** Ends all faults and returns the rules that are broken then. Called when there are no moves, after which the run is over. */
  readonly wrongAtEnd: () => Promise<readonly string[]>;
  /**
   * Called after the last move of a run. Loops that sleep must be closed: Node keeps a composite AbortSignal with a listener until it
   * aborts, and with it everything that the listener refers to.
   */
  readonly leave?: () => void;
};

export type Move = {
  readonly name: string;
  readonly run: () => void;
  /** Whose move it is. An actor that can go on does so, unless another move interrupts it. */
  readonly actor?: string;
  /** Whether the move interrupts every run, such as the death of an actor. */
  readonly isInterruption?: boolean;
};

export type Exploration = {
  /** Different states that were seen. */
  readonly states: number;
  /** Moves that were made, those that repeat the beginning of another run included. */
  readonly steps: number;
  /** Runs that came to an end which no other run had come to. */
  readonly ends: number;
  /** Whether all orders were seen: those that lead to a state that was seen before are not continued. */
  readonly isComplete: boolean;
  /** All orders with so many interruptions were seen, unless `isComplete`. It is -1 when not even those without any were. */
  readonly interruptions: number;
  /** Each with the moves that lead to it. */
  readonly violations: readonly string[];
};

export type ExplorationLimits = {
  /** No run begins after so many moves. */
  readonly maxSteps: number;
  readonly maxViolations?: number;
  /** Decides the order of runs with equally many interruptions. */
  readonly seed?: number;
};

/**
 * Tries all orders in which the moves can happen: first those without an interruption, then those with one, and so on. An
 * interruption is a fault, or a move of another actor while the one that made the last move can go on. Faults of protocols
 * need few of them (Musuvathi and Qadeer, "Iterative context bounding for systematic testing of multithreaded programs",
 * 2007), so that a search that ends early has tried what matters most.
 *
 * A run begins anew for each order, because the real code cannot be put back. It is left where it comes to a state that was
 * seen before, from where all orders have been or will be tried.
 */
export async function explore(
  create: (decisions: Decisions) => Explorable,
  { maxSteps, maxViolations = 5, seed = 1 }: ExplorationLimits,
): Promise<Exploration> {
  const frontier = new Frontier(new Random(seed));
  const seen = new SeenStates();
  const violations: string[] = [];
  let branch: Branch | undefined;
  let steps = 0;
  let ends = 0;
  do {
    if (branch?.edge !== undefined) seen.addEdge(branch.edge);
    const decisions = new Decisions(branch, (opened) => frontier.add(opened));
    const run = create(decisions);
    await run.start?.();
    const { names, wrong, isEnd } = await runOnce(run, decisions, seen);
    run.leave?.();
    steps += names.length;
    if (isEnd) ends += 1;
    if (wrong.length > 0) violations.push(`${wrong.join('; ')}: ${names.join(', ')}`);
    do branch = frontier.take();
    while (branch?.edge !== undefined && seen.hasEdge(branch.edge));
  } while (branch !== undefined && steps < maxSteps && violations.length < maxViolations);
  const isComplete = branch === undefined;
  const interruptions = (branch?.interruptions ?? 0) - 1;
  return { states: seen.size, steps, ends, isComplete, interruptions, violations };
}

type Run = { readonly names: readonly string[]; readonly wrong: readonly string[]; readonly isEnd: boolean };

async function runOnce(world: Explorable, decisions: Decisions, seen: SeenStates): Promise<Run> {
  const names: string[] = [];
  let last = '';
  for (;;) {
    const moves = world.moves();
    let choice: number;
    if (decisions.isRepeating) choice = decisions.decide({ interruptions: [] });
    else {
      const wrong = world.wrong();
      if (wrong.length > 0) return { names, wrong, isEnd: true };
      const state = createHash('sha1').update(world.state()).digest('base64');
      const current = moves.some(({ actor }) => actor === last) ? last : '';
      const visit = seen.visit(state, current);
      if (visit === 'known') return { names, wrong: [], isEnd: false };
      if (moves.length === 0) return { names, wrong: await world.wrongAtEnd(), isEnd: true };
      const findEdge = (index: number): string => `${state}${index}`;
      choice = decisions.decide({
        interruptions: countInterruptions(moves, { current, visit }),
        findEdge: findEdge,
      });
      seen.addEdge(findEdge(choice));
    }
    const move = moves[choice];
    if (move === undefined) throw new Error('a run does not repeat what it did before');
    names.push(move.name);
    last = move.actor ?? '';
    move.run();
    await world.settle();
  }
}

type Situation = { readonly current: string; readonly visit: Visit };

/**
 * How often each move interrupts the run. From a state that was seen before, only moves that interrupt less often than they
 * did then are to be tried.
 */
function countInterruptions(moves: readonly Move[], { current, visit }: Situation): readonly number[] {
  const isFree = ({ actor, isInterruption }: Move): boolean =>
    isInterruption !== true && (current === '' || actor === current);
  // Where nothing else can happen, a fault interrupts nothing.
  const free = moves.some(isFree) ? isFree : (move: Move) => move === moves[0];
  return moves.map((move) => {
    if (free(move)) return 0;
    return visit === 'new' ? 1 : Number.POSITIVE_INFINITY;
  });
}

/** Whether a state is new, was seen when another actor had made the last move, or is not to be continued. */
type Visit = 'new' | 'new for the actor' | 'known';

class SeenStates {
  readonly #states = new Set<string>();
  readonly #visits = new Set<string>();
  readonly #edges = new Set<string>();

  get size(): number {
    return this.#states.size;
  }

  /** `current` is the actor that made the last move and can go on, or nobody. */
  visit(state: string, current: string): Visit {
    const visit = `${state}${current}`;
    if (this.#visits.has(visit) || this.#visits.has(state)) return 'known';
    this.#visits.add(visit);
    if (this.#states.has(state)) return 'new for the actor';
    this.#states.add(state);
    return 'new';
  }

  addEdge(edge: string): void {
    this.#edges.add(edge);
  }

  hasEdge(edge: string): boolean {
    return this.#edges.has(edge);
  }
}
