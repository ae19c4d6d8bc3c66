import { sampleProcess } from '../../support/process-figures.ts';
import { throughput } from './load.ts';

/** A value of the service and that of its floor, measured one after the other. */
export type Pair = readonly [measured: number, floor: number];

export type Rounds = { readonly rounds: number; readonly seconds: number; readonly concurrency: number };

type Call = () => Promise<void>;

/** A call, and the process that answers it. */
export type Busy = { readonly call: Call; readonly pid: number };

/** Measures requests per second of both sides in turns (A B A B …), so that other load affects both. */
export async function speedsInTurns(measured: Call, floor: Call, rounds: Rounds): Promise<readonly Pair[]> {
  const { concurrency, seconds } = rounds;
  // Compiles code and opens connections.
  for (const call of [measured, floor]) await throughput(call, concurrency, Math.min(1, seconds));
  return await inTurns(measured, floor, {
    rounds: rounds.rounds,
    of: (call) => throughput(call, concurrency, seconds),
  });
}

/** Measures in turns how many microseconds of processor time each process uses for a request. */
export function processorTimesInTurns(
  measured: Busy,
  floor: Busy,
  { rounds, seconds, concurrency }: Rounds,
): Promise<readonly Pair[]> {
  const perRequest = async ({ call, pid }: Busy): Promise<number> => {
    const before = await sampleProcess(pid);
    const perSecond = await throughput(call, concurrency, seconds);
    const after = await sampleProcess(pid);
    return ((after.runMs - before.runMs) * 1000) / ((perSecond * (after.at - before.at)) / 1000);
  };
  return inTurns(measured, floor, { rounds, of: perRequest });
}

type Turns<Side> = { readonly rounds: number; readonly of: (side: Side) => Promise<number> };

async function inTurns<Side>(measured: Side, floor: Side, { rounds, of }: Turns<Side>): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push([await of(measured), await of(floor)]);
  return pairs;
}
