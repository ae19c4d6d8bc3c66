import { parseArgs } from 'node:util';
import { median, percentile } from '../../support/statistics.ts';
import { measureListing } from './listing.ts';
import { type BenchReceiver, startReceiver } from './receiver.ts';
import { INBOUND_SECONDS, measureInbound, measureLatency } from './service.ts';
import { type Database, postgresDatabase, sqliteDatabase } from './stage.ts';
import { bareLoop, measureFanOut, measureStream, type Rate, WHOLE_AMOUNT } from './throughput.ts';

/*
 * `npm run bench:webhooks` measures what webhooks cost, with durable commits and the log of attempts. `--sqlite` or
 * `--postgres` selects one engine, `--only fan-out|stream|latency|inbound|listing` one experiment, and `--stored 1000000` sets
 * the number of deliveries in the log that is listed. Rates are shown beside those of a plain undici loop to the same
 * receiver with the same concurrency, measured in turns: the ratios are more reliable than the rates.
 *
 * The bare loop repeats one request that is signed already, which no sender of webhooks can do: each event has signatures of
 * its own. The signed loop makes both signatures of each request anew, with the same headers, and is the fair floor. Both
 * loops read every response and check its status. Neither stores anything, whereas a delivery is stored before it is sent,
 * and its attempt after it. Times are shown as multiples of one request of the bare loop with a single connection.
 */

const { values } = parseArgs({
  options: {
    sqlite: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
    only: { type: 'string' },
    stored: { type: 'string', default: '1000000' },
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
      report('one event to 1,000 webhooks', await measureFanOut({ database, receiver }, WHOLE_AMOUNT), aim);
    if (isWanted('stream'))
      report('10,000 events to one webhook', await measureStream({ database, receiver }, WHOLE_AMOUNT), aim);
    if (isWanted('latency')) {
      const floorMs = await bareRequestMs(receiver);
      const times = await measureLatency(database, receiver);
      reportTimes('event received to first attempt, idle', { times, aim: 'p50 15, p99 100', floorMs });
    }
    if (isWanted('inbound')) {
      const floorMs = await bareRequestMs(receiver);
      const times = await measureInbound({ database, receiver }, INBOUND_SECONDS);
      reportTimes('500 events a second, acknowledged in', { times, aim: 'p99 50', floorMs });
    }
    if (isWanted('listing')) await reportListing(database, receiver);
  } finally {
    receiver.close();
    await database.close();
  }
}

/** Milliseconds of one plain request to the receiver, with one connection. */
async function bareRequestMs({ url }: BenchReceiver): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ text: 'x'.repeat(500) });
  return 1000 / (await bareLoop(() => ({ url, headers, body }), { count: 2_000, concurrency: 1 }));
}

async function reportListing(database: Database, receiver: BenchReceiver): Promise<void> {
  const count = Number(values.stored);
  const floorMs = await bareRequestMs(receiver);
  const { times, grownBytes } = await measureListing(database, count);
  reportTimes(`pages of 50 with ${count} deliveries stored`, { times, aim: 'at most 20', floorMs });
  console.log(`    memory grew by ${(grownBytes / 1e6).toFixed(1)} MB over ${times.length} pages`);
}

type Timed = { readonly times: readonly number[]; readonly aim: string; readonly floorMs: number };

function reportTimes(name: string, { times, aim, floorMs }: Timed): void {
  const at = (share: number): string => percentile(times, share).toFixed(1);
  const ratio = (Number(at(0.5)) / floorMs).toFixed(1);
  console.log(
    `  ${name}: median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; aim ${aim} ms; ` +
      `the median is ${ratio} times a bare request (${floorMs.toFixed(2)} ms)`,
  );
}

function report(name: string, rates: readonly Rate[], aim: Aim): void {
  const { value: bare, text: ratiosToBare } = computeRatios(rates, 'bare');
  const { value: signed, text: ratiosToSigned } = computeRatios(rates, 'signed');
  const perSecond = median(rates.map((rate) => rate.perSecond)).toFixed(0);
  console.log(
    `  ${name}: ${perSecond} deliveries/s, bare loop ${bare}/s, ratio ${ratiosToBare}; ` +
      `aim ${aim.ratio} and ${aim.perSecond}/s\n    signed loop ${signed}/s, ratio ${ratiosToSigned}`,
  );
}

function computeRatios(rates: readonly Rate[], floor: 'bare' | 'signed'): { value: string; text: string } {
  const ratios = rates.map((rate) => rate.perSecond / rate[floor]).sort((a, b) => a - b);
  const all = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
  return {
    value: median(rates.map((rate) => rate[floor])).toFixed(0),
    text: `${median(ratios).toFixed(2)} (${all})`,
  };
}
