import { describe, expect, it } from 'vitest';
import type { Decisions } from './decisions.ts';
import { type Explorable, explore, type Move } from './explore.ts';

/** Two programs that each add one to a counter, in one step or by reading it first. */
function counters(step: 'atomic' | 'read, then write'): () => Explorable {
  return () => {
    let counter = 0;
    const programs = [0, 1].map((number) => ({
      number,
      read: undefined as number | undefined,
      isDone: false,
    }));
    const moveOf = (program: (typeof programs)[number]): Move => ({
      name: `${program.number}`,
      run: () => {
        if (step === 'atomic') counter += 1;
        else if (program.read !== undefined) counter = program.read + 1;
        program.isDone = step === 'atomic' || program.read !== undefined;
        if (step !== 'atomic') program.read = counter;
      },
    });
    return {
      state: () => JSON.stringify([counter, programs]),
      moves: () => programs.filter(({ isDone }) => !isDone).map(moveOf),
      settle: async () => {},
      wrong: () => [],
      wrongAtEnd: async () => (counter === 2 ? [] : [`the counter is ${counter}`]),
    };
  };
}

describe('the exploration of all orders', () => {
  it('finds the orders in which two programs lose an update, and names their moves', async () => {
    const { violations, isComplete } = await explore(counters('read, then write'), { maxSteps: 1_000 });
    expect(isComplete).toBe(true);
    expect(violations[0]).toBe('the counter is 1: 0, 1, 0, 1');
  });

  it('finds nothing where each update is one step, and sees each state once', async () => {
    const seen = await explore(counters('atomic'), { maxSteps: 1_000 });
    expect(seen).toEqual({ states: 4, steps: 4, ends: 1, isComplete: true, violations: [] });
  });

  it('takes every choice that a move leaves open', async () => {
    const chosen: string[] = [];
    const create = (decisions: Decisions): Explorable => {
      const taken: number[] = [];
      return {
        state: () => taken.join(),
        moves: () =>
          taken.length === 2 ? [] : [{ name: 'choose', run: () => void taken.push(decisions.choose(3)) }],
        settle: async () => {},
        wrong: () => [],
        wrongAtEnd: async () => {
          chosen.push(taken.join());
          return [];
        },
      };
    };
    await explore(create, { maxSteps: 1_000 });
    expect(chosen).toEqual(['0,0', '0,1', '0,2', '1,0', '1,1', '1,2', '2,0', '2,1', '2,2']);
  });

  it('stops after as many moves as it may make, and says that it has not seen everything', async () => {
    const { isComplete } = await explore(counters('read, then write'), { maxSteps: 3 });
    expect(isComplete).toBe(false);
  });
});
