/**
 * `npm run house` prints figures about the code's shape beside their goals. Each line says how it was measured; its file
 * explains more. The exit status is 1 if a figure is above its limit: the tests compare the same figures, except for times.
 * `--files` prints the files that the recorded runs passed.
 */
import { spawnSync } from 'node:child_process';
import { findFaults, formatFigures, type Measured } from './limits.ts';
import { measureRuns, recordRuns } from './recorded-runs.ts';
import { measureSources, ROOT } from './source-figures.ts';

if (process.argv.includes('--files')) {
  for (const [name, files] of Object.entries(await recordRuns())) console.log(name, files);
} else {
  const measured = { ...measureSources(), ...(await measureRuns()), ...timeUnitTest() };
  console.log(formatFigures(measured));
  const faults = findFaults(measured);
  for (const fault of faults) console.log(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

function timeUnitTest(): Measured {
  const startedAt = performance.now();
  const { status } = spawnSync('npm', ['test', '--', 'test/fiscal/check.test.ts'], { cwd: ROOT });
  if (status !== 0) throw new Error('the unit test failed');
  return { unitTestSeconds: Math.round((performance.now() - startedAt) / 100) / 10 };
}
