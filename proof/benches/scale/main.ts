import { writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { median } from '../../support/statistics.ts';
import { type Database, postgresDatabase, sqliteDatabase } from '../webhooks/stage.ts';
import { measureSerialSection } from './bench-store.ts';
import { type Cost, type Costs, RECORDED, readCosts } from './costs.ts';
import { OPERATIONS, type Operation, SMALLEST } from './operations.ts';
import { type BenchStage, openStage, type Spent, type StageOptions } from './stage.ts';

/*
 * `npm run bench:scale` measures what each operation costs with one, two and three instances on PostgreSQL and with one on
 * SQLite: processor time, statements, round trips and bytes to the database. Counts are taken in separate runs, because
 * counting takes time. Each processor time is also given as a multiple of that of the smallest request, GET /v1/health, to
 * the same instances in the same run. `--rounds 3`; `--only TEXT` selects operations, `--instances 1,3` numbers of instances;
 * `--record` writes what was measured into proof/benches/scale/costs.json, from which `node proof/benches/scale/simulate.ts` makes the simulation
 * and the table of docs/proof/scaling.md.
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    instances: { type: 'string', default: '1,2,3' },
    record: { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(values.rounds);
const operations = OPERATIONS.filter(({ name }) => name.includes(values.only));
const before = loadavg()[0] ?? 0;
const costs: Cost[] = [];
if (values.instances.includes('1')) costs.push(...(await measureCosts(await sqliteDatabase(), 1)));
for (const count of values.instances.split(',').map(Number)) {
  costs.push(...(await measureCosts(await postgresDatabase(), count)));
}
const database = await postgresDatabase();
const serialSection = await measureSerialSection(database);
await database.close();
console.log(
  `the row of positions is held for ${serialSection.perTransactionMs.toFixed(2)} ms by a transaction, and ` +
    `${serialSection.perEventMs.toFixed(3)} ms by each event`,
);
const isMeasured = (recorded: Cost): boolean =>
  costs.some(({ database, instances, operation }) => {
    return (
      database === recorded.database && instances === recorded.instances && operation === recorded.operation
    );
  });
const recorded: Costs = {
  node: process.version,
  processor: `${cpus().length} x ${cpus()[0]?.model}`,
  load: { before, after: loadavg()[0] ?? 0 },
  serialSection,
  costs: [...(await readCosts()).costs.filter((cost) => !isMeasured(cost)), ...costs],
};
if (values.record) await writeFile(RECORDED, `${JSON.stringify(recorded, null, 2)}\n`);

async function measureCosts(database: Database, count: number): Promise<readonly Cost[]> {
  try {
    const [floor = [], ...timed] = await spentOn(database, count, 'uncounted');
    const floorMs = roundedMedian(floor.map(({ serviceMs }) => serviceMs)) ?? Number.NaN;
    const [, ...counted] = database.name === 'SQLite' ? [] : await spentOn(database, count, 'counted');
    return operations.map((operation, index) => {
      const times = timed[index] ?? [];
      const counts = counted[index] ?? [];
      const cost: Cost = {
        database: database.name,
        instances: count,
        operation: operation.name,
        serviceMs: roundedMedian(times.map(({ serviceMs }) => serviceMs)) ?? Number.NaN,
        databaseMs: roundedMedian(times.flatMap(({ databaseMs }) => databaseMs ?? [])),
        statements: roundedMedian(counts.map(({ statements }) => statements)),
        roundTrips: roundedMedian(counts.map(({ roundTrips }) => roundTrips)),
        bytes: roundedMedian(counts.map(({ bytes }) => bytes)),
      };
      console.log(`${describe(cost)}${(cost.serviceMs / floorMs).toFixed(1).padStart(7)} x health`);
      return cost;
    });
  } finally {
    await database.close();
  }
}

/** Returns what one operation of each kind cost, for each round. The smallest one comes first. */
async function spentOn(
  database: Database,
  count: number,
  traffic: StageOptions['traffic'],
): Promise<readonly (readonly Spent[])[]> {
  const stage = await openStage({ database, count, traffic });
  try {
    const spent: Spent[][] = [];
    for (const operation of [SMALLEST, ...operations]) spent.push(await runRounds(stage, operation));
    return spent;
  } finally {
    await stage.close();
  }
}

async function runRounds(stage: BenchStage, operation: Operation): Promise<Spent[]> {
  const { times, prepare, run, finish } = operation;
  const rounds: Spent[] = [];
  // The first round warms up: it compiles code and opens connections.
  for (let round = 0; round <= ROUNDS; round += 1) {
    await prepare?.(stage);
    const spent = await stage.measure(() => run(stage));
    await finish?.(stage);
    if (round > 0) rounds.push(each(spent, times));
    else await stage.analyze();
  }
  return rounds;
}

function each(spent: Spent, times: number): Spent {
  const { databaseMs } = spent;
  return {
    statements: spent.statements / times,
    roundTrips: spent.roundTrips / times,
    bytes: spent.bytes / times,
    serviceMs: spent.serviceMs / times,
    databaseMs: databaseMs === undefined ? undefined : databaseMs / times,
  };
}

function roundedMedian(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.round(median(values) * 1000) / 1000;
}

function describe(cost: Cost): string {
  const figure = (value: number | null, digits: number): string =>
    (value === null ? '-' : value.toFixed(digits)).padStart(9);
  return (
    `${cost.database.padEnd(11)}${cost.instances} ${cost.operation.padEnd(34)}` +
    `${figure(cost.serviceMs, 3)} ms${figure(cost.databaseMs, 3)} ms` +
    `${figure(cost.statements, 2)} statements${figure(cost.roundTrips, 2)} trips${figure(cost.bytes, 0)} B`
  );
}
