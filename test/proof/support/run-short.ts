import { expect } from 'vitest';
import { type Experiment, runExperiment } from '../../../proof/experiment.ts';

/** Runs the short run of an experiment, and expects every claim to hold. */
export async function expectToHold(experiment: Experiment): Promise<void> {
  const { figures } = await runExperiment(experiment, 'short', () => {});
  expect(figures.filter((figure) => figure.holds !== undefined)).not.toEqual([]);
  expect(figures.filter((figure) => figure.holds === false)).toEqual([]);
}
