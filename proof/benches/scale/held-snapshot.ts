import { Client } from 'pg';
import { median, timed } from '../../support/statistics.ts';
import { postgresDatabase } from '../webhooks/stage.ts';
import { newDelivery, newEvent, openBenchStore, registerWebhook } from './bench-store.ts';

/*
 * `node proof/benches/scale/held-snapshot.ts` measures claims of due deliveries on PostgreSQL while another connection holds a
 * snapshot, as pg_dump does. PostgreSQL keeps the old versions of all rows that change meanwhile, and a claim walks over
 * those of deliveries that are completed. 500 deliveries at a time are stored, claimed and completed, before the snapshot,
 * for a long time during it, and after it. Times are multiples of `select 1` in the same part of the run.
 */

const BATCH = 500;
/** 50,000 deliveries are completed while the snapshot is held. */
const ROUNDS = { before: 20, during: 100, after: 20 } as const;
/** Each part of the run reports its last rounds. */
const REPORTED = 20;
const OWNER = 'bench';
const database = await postgresDatabase();
const store = await openBenchStore(database);
const url = 'databaseUrl' in database.options ? database.options.databaseUrl : '';
const dump = new Client({ connectionString: url });
await dump.connect();
try {
  await registerWebhook(store);
  await measure('before the snapshot', ROUNDS.before);
  await dump.query('begin isolation level repeatable read');
  await dump.query('select count(*) from deliveries');
  await measure('while it is held', ROUNDS.during);
  await dump.query('commit');
  await dump.query('vacuum deliveries');
  await measure('after it', ROUNDS.after);
} finally {
  await dump.end();
  await store.close();
  await database.close();
}

type Times = { readonly claim: number[]; readonly nothing: number[]; readonly next: number[] };

async function measure(part: string, rounds: number): Promise<void> {
  const times: Times = { claim: [], nothing: [], next: [] };
  for (let round = 0; round < rounds; round += 1) await runRound(times);
  const smallest: number[] = [];
  for (let index = 0; index < 200; index += 1) {
    smallest.push((await timed(() => dump.query('select 1')))[0]);
  }
  const floorMs = median(smallest);
  const show = (all: readonly number[]): string => {
    const middle = median(all.slice(-REPORTED));
    return `${middle.toFixed(2)} ms (${(middle / floorMs).toFixed(0)} x select 1)`;
  };
  console.log(
    `${part}: claim of ${BATCH} ${show(times.claim)}, claim of nothing ${show(times.nothing)}, ` +
      `look for the next ${show(times.next)}`,
  );
}

async function runRound({ claim, nothing, next }: Times): Promise<void> {
  const events = Array.from({ length: BATCH }, newEvent);
  const unleased = { leaseOwner: null, leaseUntil: null };
  const deliveries = events.map(({ id }) => ({ ...newDelivery(id), ...unleased }));
  await store.events.insertAll(events, deliveries);
  const [claimMs, jobs] = await timed(claimDue);
  if (jobs.length !== BATCH) throw new Error(`${jobs.length} deliveries were claimed`);
  const response = { statusCode: 200, error: null, responseBody: 'ok' };
  await store.deliveries.recordOutcomes(
    OWNER,
    jobs.map(({ delivery }) => ({
      attempt: { deliveryId: delivery.id, startedAt: Date.now(), durationMs: 5, ...response },
      next: { state: 'delivered', endedAt: Date.now() },
    })),
  );
  claim.push(claimMs);
  nothing.push((await timed(claimDue))[0]);
  next.push((await timed(() => store.deliveries.nextClaimableAt([])))[0]);
}

function claimDue() {
  const now = Date.now() + 1;
  const limits = { limit: BATCH, limitPerWebhook: BATCH, limitPerOrder: BATCH };
  return store.deliveries.claim({
    ...{ owner: OWNER, now, leaseUntil: now + 60_000, exceptWebhooks: [] },
    ...limits,
  });
}
