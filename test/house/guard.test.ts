import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findFaults, summarize } from '../../proof/benches/guard/recorded.ts';

const work = { blocks: 100, statements: 4, mediaCalls: 1, spread: 0.01 };

describe('npm run guard', () => {
  it('takes the minimum of the rounds, and the share by which their median exceeds it', () => {
    const rounds = [104, 100, 101].map((blocks) => ({ blocks, statements: 4, mediaCalls: 0 }));
    expect(summarize(rounds)).toEqual({ blocks: 100, statements: 4, mediaCalls: 0, spread: 0.01 });
  });

  it('ignores differences within the spread of batches, and improvements', () => {
    expect(findFaults('it', { ...work, blocks: 103, statements: 4.4 }, work)).toEqual([]);
    expect(findFaults('it', { ...work, blocks: 50 }, work)).toEqual([]);
  });

  it.each([
    ['blocks', 110],
    ['statements', 5],
    ['mediaCalls', 2],
  ])('names %s that have increased', (what, count) => {
    const recorded = work[what as keyof typeof work];
    expect(findFaults('it', { ...work, [what]: count }, work)).toEqual([
      `it: ${count} ${what}, ${recorded} when it was recorded`,
    ]);
  });

  it('names an operation that has no recorded figures', () => {
    expect(findFaults('it', work, undefined)).toEqual(['it: has no recorded figure']);
  });

  it('finds no operation more expensive than its recorded figures', { timeout: 240_000 }, async () => {
    const path = join(import.meta.dirname, '..', '..', 'proof', 'benches', 'guard', 'main.ts');
    const said = await new Promise<{ code: number; text: string }>((resolve) => {
      const child = execFile(process.execPath, [path], (_error, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, text: stdout + stderr });
      });
    });
    expect(said.code, said.text).toBe(0);
  });
});
