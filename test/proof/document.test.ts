import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { groupFigures, proofDocument } from '../../proof/document.ts';
import {
  atMost,
  type Experiment,
  exactly,
  type Figure,
  holds,
  observed,
  type Result,
  runExperiment,
} from '../../proof/experiment.ts';
import { experiments } from '../../proof/experiments.ts';
import { readResults, recordRun } from '../../proof/results.ts';

const experiment: Experiment = {
  name: 'sample',
  title: 'A sample',
  claim: 'It is so.',
  attack: ['By looking.'],
  notClaimed: ['That it stays so.'],
  run: async ({ cleanUp }) => {
    cleanUp(() => closed.push('first'));
    cleanUp(() => closed.push('last'));
    return { figures: [{ name: 'seen | once', measured: '2', bound: '1', holds: false }] };
  },
};
const closed: string[] = [];

describe('docs/proof.md', () => {
  it("has the recorded results, and the experiments' own descriptions", async () => {
    const document = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8');
    expect(document).toBe(proofDocument(experiments, await readResults()));
  });

  it('shows failed results, and parts that have not been run', async () => {
    const result = await runExperiment(experiment, 'short', () => {});
    expect(holds(result)).toBe(false);
    const document = proofDocument([experiment, { ...experiment, name: 'other' }], { sample: result });
    expect(document).toContain('| seen \\| once | 2 | 1 | NO |');
    expect(document).toContain('this experiment has not run to its end');
    expect(document).toContain('| [other](#other) | A sample | no result yet |  |  |');
    expect(document).toContain('| [sample](#sample) | seen \\| once | 2 | 1 |');
  });

  it('names the defects that an attack found, if there are any', () => {
    const found = ['Nothing was looked at (abc1234).'];
    expect(proofDocument([{ ...experiment, found }], {})).toContain(
      'found these defects:\n\n- Nothing was looked at (abc1234).\n',
    );
    expect(proofDocument([experiment], {})).not.toContain('Found and mended');
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
    const document = proofDocument([experiment], recorded === undefined ? {} : { sample: recorded });
    expect(document).toContain('| time | 25 ms | 20 to 50 ms |\n| lost | 0 | none |');
    expect(document).toContain('Earlier runs in the spread: run 5 (load 1 to 2), run 4');
    expect(document).not.toContain('run 1');
  });

  it('leaves out runs on other machines, and stays when a result is recorded twice or after a newer one', async () => {
    const [first, second] = [await run('run 1', 10), await run('run 2', 20)];
    const both = recordRun(recordRun(undefined, first), second);
    expect(recordRun(both, second)).toEqual(both);
    expect(recordRun(both, first)).toEqual(both);
    const elsewhere = { ...second, machine: 'another machine' };
    expect(recordRun(recordRun(undefined, first), elsewhere)).toEqual(elsewhere);
    expect(proofDocument([experiment], { sample: elsewhere })).toContain('| figure | measured |\n');
  });

  it('is that of the samples if a part has them', async () => {
    const result = await run('run 1', 10);
    const sampled = { ...observed('time', 10, ' ms'), spread: '8 to 12 ms' };
    expect(proofDocument([experiment], { sample: { ...result, figures: [sampled] } })).toContain(
      '| 8 to 12 ms |',
    );
  });
});
