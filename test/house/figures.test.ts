import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { measureFolders } from '../../scripts/house/folders.ts';
import { measureSyntax } from '../../scripts/house/syntax.ts';
import { measureTests } from '../../scripts/house/tests.ts';
import { measureWalks } from '../../scripts/house/walks.ts';

const sourceOf = (text: string) => ({
  path: 'src/some.ts',
  text,
  lines: 100,
  program: parseSync('some.ts', text).program,
});

describe('npm run house', () => {
  it('counts type assertions, long parameter lists and boolean parameters', () => {
    const source = sourceOf(`
      const a = b as string; const c = d as const; const e = f!;
      function one(g: boolean, h = 1) {}
      const two = (i: number, j: number, k: number, l?: number) => l;
      class Three { four(m: string, n: boolean | undefined = undefined) {} }`);
    const measured = measureSyntax([source]).map((figure) => figure.measured);
    expect(measured).toEqual([20, 1, 2, 100]);
  });

  it('counts upper bounds on time and retry settings, and no bounds on other values', () => {
    const test = sourceOf(`
      const startedAt = performance.now();
      const tookMs = performance.now() - startedAt;
      expect(tookMs).toBeLessThan(5);
      expect(Date.now() - startedAt).toBeLessThanOrEqual(5);
      expect(tookMs).toBeGreaterThan(5);
      expect(size).toBeLessThan(5);
      it('tries', { retry: 3 }, () => {});`);
    const measured = measureTests([sourceOf('')], [test]).map((figure) => figure.measured);
    expect(measured).toEqual([1, 2, 1]);
  });

  it('finds the folders and the walks of the sources as they are', () => {
    for (const { measured } of [...measureFolders(), ...measureWalks()]) expect(measured).toBeGreaterThan(0);
  });
});
