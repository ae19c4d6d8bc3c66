import { Session } from 'node:inspector/promises';
import { runInThisContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { findBranches } from '../../scripts/coverage/branches.ts';
import { describeCoverage } from '../../scripts/coverage/report.ts';
import { readCoverage, takenOffsets } from '../../scripts/coverage/taken.ts';

const SOURCE = `(function run(value) {
  if (value > 0) {
    value += 1;
  } else {
    value -= 1;
  }
  const late = () => value;
  for (const one of [1, 2]) {
    value += one;
  }
  try {
    value = value ?? late();
  } catch (error) {
    throw error;
  }
  switch (value) {
    case 1:
      return 'one';
    default:
      return value > 3 ? value
        : late();
  }
})`;

/** Returns V8's coverage of a call, in the form that Node writes into NODE_V8_COVERAGE. */
async function makeCoverage(source: string, value: unknown) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const filename = `file:///covered-${String(value)}.js`;
  runInThisContext(source, { filename })(value);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return readCoverage(JSON.stringify({ result })).find(({ url }) => url === filename)?.ranges ?? [];
}

async function untakenLines(value: unknown): Promise<readonly number[]> {
  const branches = findBranches('run.ts', SOURCE);
  const offsets = branches.map(({ start }) => start);
  const taken = takenOffsets(offsets, await makeCoverage(SOURCE, value));
  return branches.filter(({ start }) => !taken.includes(start)).map(({ line }) => line);
}

describe('npm run coverage', () => {
  it('finds every branch of a file, with its line', () => {
    expect(findBranches('run.ts', SOURCE).map(({ line }) => line)).toEqual([
      1, 2, 4, 7, 8, 12, 13, 18, 20, 20, 21,
    ]);
  });

  it('knows which branches a process took', async () => {
    expect(await untakenLines(5)).toEqual([4, 7, 12, 13, 18, 21]);
    expect(await untakenLines(-3)).toEqual([2, 12, 13, 18, 20]);
  });

  it('lists folders, and the files with the most branches that were not taken', () => {
    const branches = [1, 2, 3, 4].map((line) => ({ start: line, line }));
    const text = describeCoverage([
      { path: 'src/server/rooms/rooms.ts', branches, untaken: branches.slice(3) },
      { path: 'src/fiscal/check.ts', branches, untaken: branches.slice(1) },
      { path: 'src/fiscal/data/places.ts', branches, untaken: [] },
    ]);
    const words = text.split('\n').map((line) => line.trim().split(/\s+/).join(' '));
    expect(words.slice(1, 4)).toEqual(['src/fiscal 8 62.5 %', 'src/server/rooms 4 75.0 %', 'all 12 66.7 %']);
    expect(words.slice(-2)).toEqual([
      'src/fiscal/check.ts 4 25.0 % 2 3 4',
      'src/server/rooms/rooms.ts 4 75.0 % 4',
    ]);
  });
});
