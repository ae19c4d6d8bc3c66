import { parseArgs } from 'node:util';
import { type Database, postgresDatabase, sqliteDatabase } from './ground.ts';
import { startReceiver } from './receiver.ts';
import { measureFanOut, measureStream, type Rate } from './throughput.ts';

/*
 * What webhooks cost, with durable commits and the log of attempts: `npm run bench:webhooks`, or with --sqlite or
 * --postgres for one engine alone, and --only fan-out|stream. Rates are beside those of a bare undici loop
 * to the same receiver, at the same concurrency, measured in turn with them: trust the ratios.
 */

const { values } = parseArgs({
  options: {
    sqlite: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});

const isWanted = (name: string): boolean => values.only === undefined || values.only === name;
const isAll = !values.sqlite && !values.postgres;

if (values.sqlite || isAll) await bench(await sqliteDatabase(), { ratio: 0.25, perSecond: 1_500 });
if (values.postgres || isAll) await bench(await postgresDatabase(), { ratio: 0.12, perSecond: 1_000 });

type Aim = { readonly ratio: number; readonly perSecond: number };

async function bench(database: Database, aim: Aim): Promise<void> {
  const receiver = await startReceiver();
  try {
    console.log(database.name);
    if (isWanted('fan-out'))
      report('one event to 1,000 webhooks', await measureFanOut(database, receiver), aim);
    if (isWanted('stream'))
      report('10,000 events to one webhook', await measureStream(database, receiver), aim);
  } finally {
    receiver.close();
    await database.close();
  }
}

function report(name: string, rates: readonly Rate[], aim: Aim): void {
  const ratios = rates.map(({ perSecond, bare }) => perSecond / bare).sort((a, b) => a - b);
  const perSecond = rates.map((rate) => rate.perSecond).sort((a, b) => a - b);
  const bare = rates.map((rate) => rate.bare).sort((a, b) => a - b);
  const middle = (numbers: readonly number[]): number =>
    numbers[Math.floor(numbers.length / 2)] ?? Number.NaN;
  console.log(
    `  ${name}: ${middle(perSecond).toFixed(0)} deliveries/s, bare loop ${middle(bare).toFixed(0)}/s, ` +
      `ratio ${middle(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}); ` +
      `aim ${aim.ratio} and ${aim.perSecond}/s`,
  );
}
