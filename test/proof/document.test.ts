import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { groupFigures, listDescribed, readDocument, withResults } from '../../proof/document.ts';
import { type Experiment, holds, type Result, runExperiment } from '../../proof/experiment.ts';
import { experiments } from '../../proof/experiments.ts';
import { aimedAt, atMost, exactly, type Figure, observed } from '../../proof/figures.ts';
import { readResults, recordRun } from '../../proof/results.ts';

const experiment: Experiment = {
  name: 'sample',
  run: async ({ cleanUp }) => {
    cleanUp(() => closed.push('first'));
    cleanUp(() => closed.push('last'));
    return { figures: [{ name: 'seen | once', measured: '2', bound: '1', holds: false }] };
  },
};
const closed: string[] = [];

/** A document with a section for each of these names. */
const describeExperiments = (...names: readonly string[]): string =>
  ['# Proof\n', '## Summary\n', ...names.map((name) => describeOne(name))].join('\n');

const describeOne = (name: string): string =>
  `## ${name}\n\nA sample.\n\n**Claim.** It is so.\n\n**Attack.** By looking.\n\n**Results.** Old.\n\n**Not claimed.**\n\n- More.\n`;

describe('docs/proof.md and the pages beside it', async () => {
  const document = await readDocument(experiments.map(({ name }) => name));

  it('has the recorded results', async () => {
    expect(withResults(document, await readResults())).toBe(document);
  });

  it('describes each experiment: its claim, its attack, its results and what is not claimed', () => {
    expect(listDescribed(document).map(({ name }) => name)).toEqual(experiments.map(({ name }) => name));
    const pages = readdirSync(new URL('../../docs/proof', import.meta.url)).toSorted();
    expect(pages).toEqual([...experiments.map(({ name }) => `${name}.md`), 'scaling.md'].toSorted());
    const sections = document.split(/^(?=## )/m).filter((text) => text.includes('**Claim.**'));
    for (const section of sections) {
      const parts = [...section.matchAll(/^\*\*(Claim|Attack|Results|Not claimed)\.\*\*/gm)].map(
        ([, part]) => part,
      );
      expect(parts).toEqual(['Claim', 'Attack', 'Results', 'Not claimed']);
    }
  });

  it('claims times in the long run only, because the machine of the short run may be busy', async () => {
    const late = atMost({ name: 'answered after', measured: 9, bound: 1, unit: ' ms' });
    const run = async () => ({ figures: [late, exactly('lost', 1, 0)] });
    const [long, short] = await Promise.all(
      (['long', 'short'] as const).map((size) => runExperiment({ name: 'late', run }, size, () => {})),
    );
    expect(long?.figures.map(({ holds }) => holds)).toEqual([false, false]);
    expect(short?.figures.map(({ holds }) => holds)).toEqual([undefined, false]);
  });

  it('shows failed results, and parts that have not been run', async () => {
    const result = await runExperiment(experiment, 'short', () => {});
    expect(holds(result)).toBe(false);
    const updated = withResults(describeExperiments('sample', 'other'), { sample: result });
    expect(updated).toContain('| seen \\| once | 2 | 1 | NO |');
    expect(updated).toContain('this experiment has not run to its end.\n\n**Not claimed.**\n\n- More.\n');
    expect(updated).toContain('| [other](proof/other.md) | A sample | no result yet |  |  |');
    expect(updated).toContain('| [sample](proof/sample.md) | seen \\| once | 2 | 1 |');
    expect(updated).not.toContain('Old.');
    expect(withResults(updated, { sample: result })).toBe(updated);
  });

  it('lists in short which figures are 0, as claimed, and keeps a row for every other one', async () => {
    const zeros = ['here: lost', 'here: twice', 'there: lost', 'late'].map((name) => exactly(name, 0, 0));
    const figures = [...zeros, exactly('wrong', 1, 0), observed('seen', 0)];
    const show = async (each: readonly Figure[]) => {
      const result = await runExperiment(
        { ...experiment, run: async () => ({ figures: each }) },
        'short',
        () => {},
      );
      return withResults(describeExperiments('sample'), { sample: result });
    };
    const shown = await show(figures);
    expect(shown).toContain(
      '\n\nAs claimed, these are 0:\n\n- here: lost; twice\n- there: lost\n- late\n\nLast run:',
    );
    expect(shown).toContain('| wrong | 1 | 0 | NO |\n| seen | 0 |  |  |\n\nAs claimed');
    expect(await show(figures.slice(1))).toContain('| here: twice | 0 | 0 | yes |');
  });

  it('names goals that were not reached beside the claims that held', async () => {
    const figures = [
      aimedAt({ name: 'ratio', measured: 0.3, bound: 0.5 }),
      aimedAt({ name: 'rate', measured: 9, bound: 8 }),
      exactly('lost', 0, 0),
    ];
    const result = await runExperiment({ ...experiment, run: async () => ({ figures }) }, 'short', () => {});
    expect(holds(result)).toBe(true);
    const updated = withResults(describeExperiments('sample'), { sample: result });
    expect(updated).toContain('| ratio | 0.3 | goal: at least 0.5 | not reached |');
    expect(updated).toContain('| rate | 9 | goal: at least 8 | reached |');
    expect(updated).toContain('| 1 of 1; 1 of 2 goals |');
    expect(updated).toContain('not reached; nobody claims them:');
    expect(updated).toContain('| [sample](proof/sample.md) | ratio | 0.3 | at least 0.5 |');
    expect(updated).not.toContain('| rate | 9 | at least 8 |');
  });

  it('ends what a part started, the last first', () => {
    expect(closed).toEqual(['last', 'first']);
  });
});

describe('figures of several groups', () => {
  const figures = ['locked', 'full'].flatMap((fault, index): readonly Figure[] => [
    observed(`${fault}: requests`, 10),
    { ...exactly(`${fault}: lost`, index, 0), spread: '0 to 3' },
    atMost({ name: `${fault}: slowest`, measured: 5, bound: 9 + index, unit: ' ms' }),
  ]);

  it('stand side by side, with the claims that they share in the heading', () => {
    const { grouped, single } = groupFigures([...figures, observed('at the end: requests', 4)]);
    expect(grouped).toEqual([
      {
        head: ['', 'requests', 'lost (claimed: 0)', 'slowest'],
        rows: [
          ['locked', '10', '0 [0 to 3]', '5 ms (claimed: at most 9 ms)'],
          ['full', '10', '**NO:** 1 [0 to 3]', '5 ms (claimed: at most 10 ms)'],
        ],
      },
    ]);
    expect(single.map(({ name }) => name)).toEqual(['at the end: requests']);
  });

  it('stay one below the other if there is one group, or if each has one or two figures', () => {
    expect(groupFigures(figures.slice(0, 3)).grouped).toEqual([]);
    expect(groupFigures([...figures.slice(0, 2), ...figures.slice(3, 5)]).grouped).toEqual([]);
  });
});

describe('the spread of a figure', () => {
  const run = async (at: string, milliseconds: number): Promise<Result> => {
    const timed = async () => ({ figures: [observed('time', milliseconds, ' ms'), observed('lost', 0)] });
    return {
      ...(await runExperiment({ ...experiment, run: timed }, 'long', () => {})),
      endedAt: at,
      load: [1, 2],
    };
  };

  it('is that of the last five runs on the machine', async () => {
    const times = [900, 20, 50, 30, 40, 25];
    const runs = await Promise.all(times.map((time, index) => run(`run ${index + 1}`, time)));
    const recorded = runs.reduce(recordRun, undefined);
    const document = withResults(
      describeExperiments('sample'),
      recorded === undefined ? {} : { sample: recorded },
    );
    expect(document).toContain('| time | 25 ms | 20 to 50 ms |\n| lost | 0 | none |');
    expect(document).toContain('Earlier runs in the spread: run 5 (load 1 to 2), run 4');
    expect(document).not.toContain('run 1');
  });

  it('leaves out runs on other machines', async () => {
    const elsewhere = { ...(await run('run 2', 20)), machine: 'another machine' };
    expect(recordRun(await run('run 1', 10), elsewhere)).toEqual(elsewhere);
    expect(withResults(describeExperiments('sample'), { sample: elsewhere })).toContain(
      '| figure | measured |\n',
    );
  });

  it('is that of the samples if a part has them', async () => {
    const result = await run('run 1', 10);
    const sampled = { ...observed('time', 10, ' ms'), spread: '8 to 12 ms' };
    expect(
      withResults(describeExperiments('sample'), { sample: { ...result, figures: [sampled] } }),
    ).toContain('| 8 to 12 ms |');
  });
});
