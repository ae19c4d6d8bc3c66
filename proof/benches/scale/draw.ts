import { readFile, writeFile } from 'node:fs/promises';
import { replaceBlock } from '../../../scripts/replace-block.ts';
import { readCosts } from './costs.ts';
import { fitModel } from './simulate.ts';
import { costTable, simulations } from './tables.ts';

/*
 * `node proof/benches/scale/draw.ts` simulates many instances from the recorded costs, prints the results, and writes the
 * table of costs of docs/proof/scaling.md.
 */

const costs = await readCosts();
const outcomes = simulations(costs);
console.log(fitModel(costs));
console.table(
  outcomes.map((outcome) => ({
    ...outcome,
    medianMs: Math.round(outcome.medianMs * 10) / 10,
    p99Ms: Math.round(outcome.p99Ms * 10) / 10,
    eventsPerBatch: Math.round(outcome.eventsPerBatch * 10) / 10,
    busyShare: Math.round(outcome.busyShare * 100) / 100,
  })),
);
const page = new URL('../../../docs/proof/scaling.md', import.meta.url);
await writeFile(page, replaceBlock(await readFile(page, 'utf8'), 'costs', costTable(costs)));
