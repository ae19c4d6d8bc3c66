import { createHash } from 'node:crypto';
import { Decisions } from './decisions.ts';

/** A simulation that can be run again and again, with other decisions each time. */
export type Explorable = {
  /** Everything that decides how it can go on, what its programs have learned included. */
  readonly state: () => string;
  /** What can happen next, each with a name. Nothing when the run is over. */
  readonly moves: () => readonly Move[];
  /** Resolves when everything that follows from a move without another one has happened. */
  readonly settle: () => Promise<void>;
  /** The rules that are broken now. */
  readonly wrong: () => readonly string[];
  /** Ends all faults and returns the rules that are broken then. Called where `mayEnd` allows it, after which the run is over. */
  readonly wrongAtEnd: () => Promise<readonly string[]>;
  /**
   * Called after the last move of a run. Loops that sleep must be closed: Node keeps a composite AbortSignal with a listener until it
   * aborts, and with it everything that the listener refers to.
   */
  readonly leave?: () => void;
};

export type Move = { readonly name: string; readonly run: () => void };

export type Exploration = {
  /** Different states that were seen. */
  readonly states: number;
  /** Moves that were made. */
  readonly steps: number;
  /** Runs that came to an end which no other run had come to. */
  readonly ends: number;
  /** Whether all orders were seen: those that lead to a state that was seen before are not continued. */
  readonly isComplete: boolean;
  /** Each with the moves that lead to it. */
  readonly violations: readonly string[];
};

export type ExplorationLimits = {
  /** No run begins after so many moves. */
  readonly maxSteps: number;
  readonly maxViolations?: number;
};

/**
 * Tries all orders in which the moves can happen, depth first. A run begins anew for each of them, because the real code
 * cannot be put back; it is left where it comes to a state that was seen before, from where all orders have been or will be
 * tried.
 */
export async function explore(
  create: (decisions: Decisions) => Explorable,
  { maxSteps, maxViolations = 5 }: ExplorationLimits,
): Promise<Exploration> {
  const decisions = new Decisions();
  const seen = new Set<string>();
  const violations: string[] = [];
  let steps = 0;
  let ends = 0;
  let isComplete = false;
  while (!isComplete && steps < maxSteps && violations.length < maxViolations) {
    decisions.restart();
    const run = create(decisions);
    const { names, wrong, isEnd } = await runOnce(run, decisions, seen);
    run.leave?.();
    steps += names.length;
    if (isEnd) ends += 1;
    if (wrong.length > 0) violations.push(`${wrong.join('; ')}: ${names.join(', ')}`);
    isComplete = !decisions.next();
  }
  return { states: seen.size, steps, ends, isComplete, violations };
}

type Run = { readonly names: readonly string[]; readonly wrong: readonly string[]; readonly isEnd: boolean };

async function runOnce(world: Explorable, decisions: Decisions, seen: Set<string>): Promise<Run> {
  const names: string[] = [];
  for (;;) {
    if (!decisions.isRepeating) {
      const wrong = world.wrong();
      if (wrong.length > 0) return { names, wrong, isEnd: true };
      const state = createHash('sha1').update(world.state()).digest('base64');
      if (seen.has(state)) return { names, wrong: [], isEnd: false };
      seen.add(state);
    }
    const moves = world.moves();
    const move = moves[decisions.choose(moves.length)];
    if (move === undefined) return { names, wrong: await world.wrongAtEnd(), isEnd: true };
    names.push(move.name);
    move.run();
    await world.settle();
  }
}
