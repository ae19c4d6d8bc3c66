import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { costTable, readCosts } from '../../proof/benches/scale/costs.ts';
import { fitModel, simulate } from '../../proof/benches/scale/simulate.ts';

describe('docs/proof/scaling.md', async () => {
  const costs = await readCosts();

  it('has the table of the costs that were recorded', () => {
    const page = readFileSync(new URL('../../docs/proof/scaling.md', import.meta.url), 'utf8');
    expect(page).toContain(costTable(costs));
  });

  it('simulates instances that store what is offered below their capacity, and no more than that above it', () => {
    const model = fitModel(costs);
    const below = simulate(model, 1, 200);
    expect(below.storedPerSecond).toBeGreaterThan(0.9 * below.offeredPerSecond);
    const above = simulate(model, 1, 20_000);
    expect(above.storedPerSecond).toBeLessThan(1_000 / model.service.perEventMs);
    expect(above.p99Ms).toBeGreaterThan(10 * below.p99Ms);
  });
});
