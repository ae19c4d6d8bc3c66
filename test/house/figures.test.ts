import { describe, expect, it } from 'vitest';
import { findFaults, formatFigures, LIMITS } from '../../scripts/house/limits.ts';
import { measureRuns } from '../../scripts/house/recorded-runs.ts';
import {
  measureFunctions,
  measureModules,
  measureSources,
  measureTests,
} from '../../scripts/house/source-figures.ts';
import { parseModule } from '../support/source-modules.ts';

const some = (text: string) => [{ path: 'src/some.ts', text }];

describe('npm run house', () => {
  it('finds no figure of the sources above its limit', () => {
    expect(findFaults(measureSources())).toEqual([]);
  });

  it('finds no recorded run above its limit', { timeout: 60_000 }, async () => {
    const measured = await measureRuns();
    expect(Object.keys(measured).toSorted()).toEqual([
      'cfCheckFiles',
      'eventFiles',
      'roomsListFiles',
      'tokenFiles',
      'webhookFiles',
    ]);
    for (const count of Object.values(measured)) expect(count).toBeGreaterThan(10);
    expect(findFaults(measured)).toEqual([]);
  });

  it('fails for a figure above its limit, and for a goal that is reached without a limit', () => {
    expect(findFaults({ booleans: 1 })).toEqual([`${LIMITS.booleans.what}: 1, at most 0`]);
    expect(findFaults({ files: 10_000, booleans: 0 })).toEqual([]);
  });

  it('prints what is not reached', () => {
    const table = formatFigures({ lines: LIMITS.lines.goal + 1, booleans: 0 });
    expect(table).toMatch(/^lines of src .* NOT REACHED /m);
    expect(table).toMatch(/^functions with a boolean parameter .* reached /m);
  });

  it('counts names that end in Of, long functions, long parameter lists, booleans and assertions', () => {
    const long = `function long() {${'\n'.repeat(50)}}`;
    const measured = measureFunctions(
      some(`
      const a = b as string; const c = d as const; const e = f!;
      function one(g: boolean, h = 1) {}
      const two = (i: number, j: number, k: number, l?: number) => l;
      class Three { four(m: string, n: boolean | undefined = undefined) {} keyOf() {} }
      const nameOf = () => 1; const listOf = [1]; const off = { sizeOf: () => 2 };
      ${long}${'\n'.repeat(1000 - 57)}end;`),
    );
    expect(measured).toEqual({
      ...{ ofNames: 3, longFunctions: 1, longestFunction: 51, longLists: 1, booleans: 2 },
      assertions: expect.closeTo(2, 0),
    });
  });

  it('counts upper bounds on time and retry settings, and no bounds on other values', () => {
    const measured = measureTests(
      some(`
      const startedAt = performance.now();
      const tookMs = performance.now() - startedAt;
      expect(tookMs).toBeLessThan(5);
      expect(Date.now() - startedAt).toBeLessThanOrEqual(5);
      expect(tookMs).toBeGreaterThan(5);
      expect(size).toBeLessThan(5);
      it('tries', { retry: 3 }, () => {});`),
    );
    expect(measured).toEqual({ timeBounds: 2, retries: 1 });
  });

  it('counts importers, circles and back arrows, but for queries that use the schema of their records', () => {
    const modules = [
      parseModule('src/server/rooms/store.ts', 'export type Room = {};'),
      parseModule('src/server/schema/tables.ts', "import type { Room } from '../rooms/store.ts';"),
      parseModule('src/server/rooms/rooms.sql.ts', "import { a } from '../schema/tables.ts';"),
    ];
    expect(measureModules(modules)).toEqual({ oneImporter: 66.7, backArrows: 0, circles: 0 });
    const back = parseModule('src/server/rooms/rooms.ts', "import { a } from '../schema/tables.ts';");
    const circle = parseModule('src/server/rooms/store.ts', "import { a } from '../schema/tables.ts';");
    expect(measureModules([...modules, back]).backArrows).toBe(1);
    expect(measureModules([...modules.slice(1), circle]).circles).toBe(1);
  });
});
