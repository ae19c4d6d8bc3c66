import { describe, expect, it } from 'vitest';
import { compareStates } from './compare-states.ts';
import type { Chooser } from './decisions.ts';
import { type Explorable, explore, type Move } from './explore.ts';

/** Two programs that each add one to a counter, in one step or by reading it first. */
function counters(
  step: 'atomic' | 'read, then write',
  shown: 'everything' | 'the counter' = 'everything',
): () => Explorable {
  return () => {
    let counter = 0;
    const programs = [0, 1].map((number) => ({
      number,
      read: undefined as number | undefined,
      isDone: false,
    }));
    const makeMove = (program: (typeof programs)[number]): Move => ({
      name: `${program.number}`,
      actor: `${program.number}`,
      run: () => {
        if (step === 'atomic') counter += 1;
        else if (program.read !== undefined) counter = program.read + 1;
        program.isDone = step === 'atomic' || program.read !== undefined;
        if (step !== 'atomic') program.read = counter;
      },
    });
    return {
      state: () => JSON.stringify(shown === 'everything' ? [counter, programs] : [counter]),
      moves: () => programs.filter(({ isDone }) => !isDone).map(makeMove),
      settle: async () => {},
      wrong: () => [],
      wrongAtEnd: async () => (counter === 2 ? [] : [`the counter is ${counter}`]),
    };
  };
}

describe('the exploration of all orders', () => {
  it('finds an order with as few interruptions as it takes to lose an update, and names its moves', async () => {
    const { violations, isComplete } = await explore(counters('read, then write'), { maxSteps: 1_000 });
    expect(isComplete).toBe(true);
    expect(violations[0]).toMatch(/^the counter is 1: (0, 1, 1, 0|1, 0, 0, 1)$/);
  });

  it('tries all orders without an interruption first', async () => {
    const { violations, interruptions } = await explore(counters('read, then write'), { maxSteps: 5 });
    expect({ violations, interruptions }).toEqual({ violations: [], interruptions: 0 });
  });

  it('finds nothing where each update is one step, and sees each state once', async () => {
    const seen = await explore(counters('atomic'), { maxSteps: 1_000 });
    expect(seen).toMatchObject({ states: 4, isComplete: true, violations: [] });
  });

  it('takes every choice that a move leaves open', async () => {
    const chosen: string[] = [];
    const create = (chooser: Chooser): Explorable => {
      const taken: number[] = [];
      return {
        state: () => taken.join(),
        moves: () =>
          taken.length === 2 ? [] : [{ name: 'choose', run: () => void taken.push(chooser.choose(3)) }],
        settle: async () => {},
        wrong: () => [],
        wrongAtEnd: async () => {
          chosen.push(taken.join());
          return [];
        },
      };
    };
    await explore(create, { maxSteps: 1_000 });
    expect(chosen.toSorted()).toEqual(['0,0', '0,1', '0,2', '1,0', '1,1', '1,2', '2,0', '2,1', '2,2']);
  });

  it('stops after as many moves as it may make, and says that it has not seen everything', async () => {
    const { isComplete } = await explore(counters('read, then write'), { maxSteps: 3 });
    expect(isComplete).toBe(false);
  });
});

describe('the comparison of states', () => {
  it('finds runs that come to the same state and go on differently', async () => {
    const incomplete = counters('read, then write', 'the counter');
    const { differing } = await compareStates(incomplete, { runs: 20, seed: 1 });
    expect(differing).not.toEqual([]);
  });

  it('finds none where the state shows everything', async () => {
    const complete = counters('read, then write');
    const { compared, differing } = await compareStates(complete, { runs: 20, seed: 1 });
    expect(differing).toEqual([]);
    expect(compared).toBeGreaterThan(0);
  });
});
