import type { Pool } from 'pg';
import type { Clock } from '../../clock.ts';
import { startLoop } from '../../jobs/loop.ts';
import type { Log } from '../../log.ts';

const INTERVAL_MS = 60_000;
/** A response that took longer says little about the clock of the database. */
const MAX_ROUND_TRIP_MS = 1000;

export type DatabaseClock = Clock & { readonly close: () => Promise<void> };

/**
 * The clock of the database, as the instances' own clocks may be apart: ours, and the difference that the database's
 * had to it at the last comparison. It is off by half a round trip at most, until somebody sets one of the two.
 */
export async function startDatabaseClock(pool: Pool, clock: Clock, log: Log): Promise<DatabaseClock> {
  let offsetMs = (await readOffset(pool, clock)) ?? 0;
  let nextAt = clock.now() + INTERVAL_MS;
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'comparing the clock with that of the database failed; trying again',
    round: async () => {
      // The first comparison was that of the start.
      if (clock.now() < nextAt) return nextAt;
      offsetMs = (await readOffset(pool, clock)) ?? offsetMs;
      nextAt = clock.now() + INTERVAL_MS;
      return nextAt;
    },
  });
  return {
    now: () => clock.now() + offsetMs,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    close: loop.close,
  };
}

async function readOffset(pool: Pool, clock: Clock): Promise<number | undefined> {
  const askedAt = clock.now();
  const { rows } = await pool.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now',
  );
  const answeredAt = clock.now();
  const [row] = rows;
  if (row === undefined || answeredAt - askedAt > MAX_ROUND_TRIP_MS) return undefined;
  return Math.round(row.now - (askedAt + answeredAt) / 2);
}
