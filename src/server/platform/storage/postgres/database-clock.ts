import type { Pool } from 'pg';
import type { Clock } from '../../clock.ts';
import { startLoop } from '../../jobs/loop.ts';
import type { Log } from '../../log.ts';

const INTERVAL_MS = 60_000;
/** A response that took longer is too inexact to compare clocks. */
const MAX_ROUND_TRIP_MS = 1000;

/** A larger change of this machine's clock is a jump and no correction of its speed. */
const JUMP_MS = 1000;

export type DatabaseClock = Clock & { readonly close: () => Promise<void> };

/**
 * The clock of the database, because the clocks of the instances may differ: our monotonic clock, and its difference to the
 * database's clock at the last comparison. It is off by half a round trip at most. Setting this machine's clock changes
 * nothing, and a change of the database's clock counts from the next comparison on. The monotonic clock stops while a
 * machine is suspended. Both cases look alike here, and cause a comparison at once.
 */
export async function startDatabaseClock(pool: Pool, clock: Clock, log: Log): Promise<DatabaseClock> {
  let offsetMs = (await readOffset(pool, clock)) ?? clock.now() - clock.monotonic();
  let isFirst = true;
  let ownOffsetMs = clock.now() - clock.monotonic();
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'comparing the clock with that of the database failed; trying again',
    round: async () => {
      // The first comparison was made at the start.
      if (!isFirst) offsetMs = (await readOffset(pool, clock)) ?? offsetMs;
      isFirst = false;
      return INTERVAL_MS;
    },
  });
  return {
    now: () => {
      compareAfterJump();
      return Math.round(clock.monotonic() + offsetMs);
    },
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    close: loop.close,
  };

  function compareAfterJump(): void {
    const current = clock.now() - clock.monotonic();
    if (Math.abs(current - ownOffsetMs) > JUMP_MS) loop.wake();
    ownOffsetMs = current;
  }
}

async function readOffset(pool: Pool, clock: Clock): Promise<number | undefined> {
  const requestedAt = clock.monotonic();
  const { rows } = await pool.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now',
  );
  const respondedAt = clock.monotonic();
  const [row] = rows;
  if (row === undefined || respondedAt - requestedAt > MAX_ROUND_TRIP_MS) return undefined;
  return row.now - (requestedAt + respondedAt) / 2;
}
