import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { createWorkCounter, type Operation, type Work, type WorkCounter } from './count-work.ts';
import { findFaults, type RecordedResult, summarize } from './recorded.ts';

/*
 * `npm run guard` counts what the common operations make the machine do, and compares it with proof/benches/guard/recorded.json.
 * `--only NAME` selects operations; `--record` writes the file anew. It measures no time, so that a busy machine gives the
 * same figures. The exit status is 3 if an operation has become more expensive.
 */

const ROUNDS = 3;
const RECORDED = new URL('recorded.json', import.meta.url);

const { values } = parseArgs({ options: { record: { type: 'boolean' }, only: { type: 'string' } } });

const counter = await createWorkCounter();
// Imported after the counting has begun. For code that was compiled before, V8 counts only whole functions.
const { fiscalOperations, startServiceStage } = await import('./service-operations.ts');
const stage = await startServiceStage();
const operations = [...fiscalOperations(), ...stage.operations].filter(
  ({ name }) => values.only === undefined || name.includes(values.only),
);
const measured = new Map<string, readonly Work[]>();
for (const operation of operations) measured.set(operation.name, await countRounds(counter, operation));
await stage.close();
counter.close();

const now = Object.fromEntries([...measured].map(([name, rounds]) => [name, summarize(rounds)]));
const before = JSON.parse(await readFile(RECORDED, 'utf8').catch(() => '{}')) as RecordedResult;
print(now, before);
if (values.record) await writeFile(RECORDED, `${JSON.stringify({ ...before, ...now }, null, 2)}\n`);
else {
  const faults = Object.entries(now).flatMap(([name, work]) => findFaults(name, work, before[name]));
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) {
    console.log(
      'If the cost is justified: npm run guard -- --record. To find its commit: git bisect run npm run guard -- --only NAME',
    );
  }
  process.exitCode = faults.length > 0 ? 3 : 0;
}

async function countRounds(counting: WorkCounter, operation: Operation): Promise<readonly Work[]> {
  // The first call fills caches and prepares statements.
  await operation.run();
  const rounds: Work[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await counting.count(operation));
  return rounds;
}

function print(figures: RecordedResult, earlier: RecordedResult): void {
  const cell = (value: number | undefined): string => String(value ?? '-').padStart(9);
  console.log(`${'per operation'.padEnd(56)}   blocks    recorded  statements  recorded  media  recorded`);
  for (const [name, { blocks, statements, mediaCalls }] of Object.entries(figures)) {
    const was = earlier[name];
    console.log(
      name.padEnd(54) +
        [blocks, was?.blocks, statements, was?.statements, mediaCalls, was?.mediaCalls].map(cell).join(''),
    );
  }
}
