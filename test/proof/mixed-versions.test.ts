import { expect, it } from 'vitest';
import { runExperiment } from '../../proof/experiment.ts';
import { chooseBuilds } from '../../proof/faults/versions/builds.ts';
import { mixedVersions } from '../../proof/faults/versions/mixed-versions.ts';

it('an older build and this one share a database, and lose and refuse nothing', {
  timeout: 180_000,
}, async (context) => {
  const { figures } = await runExperiment(mixedVersions, 'short', () => {});
  expect(figures.filter(({ holds }) => holds === false)).toEqual([]);
  const { gaps } = await chooseBuilds();
  // What the history of a shallow checkout lacks was not proved.
  if (gaps.length > 0) context.skip(gaps.join(' '));
});
