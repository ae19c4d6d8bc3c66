import { expect } from 'vitest';
import { type Experiment, runExperiment } from '../../../proof/experiment.ts';
import type { Figure } from '../../../proof/figures.ts';

/** Runs the short run of an experiment, and expects every claim to hold, but for times, which long runs judge. */
export async function expectToHold(experiment: Experiment): Promise<void> {
  const { figures } = await runExperiment(experiment, 'short', () => {});
  const claims = figures.filter((figure) => figure.holds !== undefined && !isTime(figure));
  expect(claims).not.toEqual([]);
  expect(claims.filter((figure) => figure.holds === false)).toEqual([]);
}

function isTime({ bound }: Figure): boolean {
  return bound !== undefined && / m?s$/.test(bound);
}
