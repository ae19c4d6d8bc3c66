import type { Pool } from 'pg';
import { CLOCKS_APART_MS, type Clock, type StoreClock } from '../../clock.ts';
import { startLoop } from '../../jobs/loop.ts';
import type { Log } from '../../log.ts';

/** Asks another machine for the time. Resolves to the milliseconds by which its clock is ahead of ours, if it responds. */
export type AskWitness = () => Promise<number | undefined>;

const INTERVAL_MS = 60_000;

/** A response that took longer is too inexact to compare clocks. */
const MAX_ROUND_TRIP_MS = 1000;

/** The first reading may open the connection, which takes long before the database looks at its clock. */
const READINGS = 5;
/** A response that came as soon needs no further reading. */
const EXACT_ROUND_TRIP_MS = 2;

/** A larger change of this machine's clock is a jump and no correction of its speed. */
const JUMP_MS = 1000;

type DatabaseClockDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly askWitness?: AskWitness | undefined;
};

type DatabaseClock = StoreClock & { readonly close: () => Promise<void> };

/**
 * The clock of the database, because the clocks of the instances may differ: our monotonic clock, and its difference to the
 * database's clock at the last comparison. It is off by half the shortest of some round trips at most. Setting this
 * machine's clock changes nothing, and a change of the database's clock counts from the next comparison on. The monotonic
 * clock stops while a machine is suspended. That looks like a change of this machine's clock, and both cause a comparison at once.
 *
 * The database's clock is wrong if it is far from ours and from that of a third machine, and these two agree. Then ours is
 * used, because plans would otherwise close rooms too early or too late. Instances then agree as well as their machines'
 * clocks.
 */
export async function startDatabaseClock(
  pool: Pool,
  { clock, log, askWitness }: DatabaseClockDeps,
): Promise<DatabaseClock> {
  const findOwn = () => clock.now() - clock.monotonic();
  let isWrong = false;
  let databaseOffsetMs = (await readOffset(pool, clock)) ?? findOwn();
  let offsetMs = await decide();
  let isFirst = true;
  let ownOffsetMs = findOwn();
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'comparing the clock with that of the database failed; trying again',
    round: async () => {
      // The first comparison was made at the start.
      if (!isFirst) {
        databaseOffsetMs = (await readOffset(pool, clock)) ?? databaseOffsetMs;
        offsetMs = await decide();
      }
      isFirst = false;
      return INTERVAL_MS;
    },
  });
  return {
    now: () => {
      compareAfterJump();
      return Math.round(clock.monotonic() + offsetMs);
    },
    databaseNow: () => Math.round(clock.monotonic() + databaseOffsetMs),
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    close: loop.close,
  };

  async function decide(): Promise<number> {
    const aheadMs = Math.round(databaseOffsetMs - findOwn());
    const wasWrong = isWrong;
    isWrong = Math.abs(aheadMs) > CLOCKS_APART_MS && (await isOursRight(askWitness));
    if (isWrong && !wasWrong) log.error({ aheadMs }, WRONG_CLOCK);
    return isWrong ? findOwn() : databaseOffsetMs;
  }

  function compareAfterJump(): void {
    const current = findOwn();
    if (Math.abs(current - ownOffsetMs) > JUMP_MS) loop.wake();
    ownOffsetMs = current;
  }
}

const WRONG_CLOCK = "the database's clock is wrong and not used: ours and LiveKit's agree. Set it";

async function isOursRight(askWitness: AskWitness | undefined): Promise<boolean> {
  const witnessMs = await askWitness?.();
  return witnessMs !== undefined && Math.abs(witnessMs) <= CLOCKS_APART_MS;
}

/** Reads the database's clock a few times, and believes the reading of the shortest round trip. */
async function readOffset(pool: Pool, clock: Clock): Promise<number | undefined> {
  let shortestMs = MAX_ROUND_TRIP_MS;
  let offsetMs: number | undefined;
  for (let reading = 0; reading < READINGS && shortestMs > EXACT_ROUND_TRIP_MS; reading += 1) {
    const requestedAt = clock.monotonic();
    const { rows } = await pool.query<{ now: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now',
    );
    const roundTripMs = clock.monotonic() - requestedAt;
    const [row] = rows;
    if (row === undefined || roundTripMs > shortestMs) continue;
    shortestMs = roundTripMs;
    offsetMs = row.now - (requestedAt + roundTripMs / 2);
  }
  return offsetMs;
}
