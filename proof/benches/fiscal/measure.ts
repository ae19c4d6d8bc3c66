import { spawnSync } from 'node:child_process';

/** Long enough for the optimising compiler to finish. */
const WARM_UP_MS = 400;
const RUN_MS = 400;

/**
 * Returns calls per second of processor time, which includes the collector's and the compiler's threads. Elapsed time would
 * include other programs on a shared machine. The best of three runs counts.
 */
export const perSecond = <T>(inputs: readonly T[], work: (input: T) => unknown): number => {
  runFor(WARM_UP_MS, inputs, work);
  return Math.max(...[1, 2, 3].map(() => runFor(RUN_MS, inputs, work)));
};

/** Like {@link perSecond}, for functions that return promises. */
export const perSecondAwaited = async <T>(
  inputs: readonly T[],
  work: (input: T) => Promise<unknown>,
): Promise<number> => {
  let best = 0;
  for (let run = 0; run < 3; run++) {
    const started = process.cpuUsage();
    let calls = 0;
    do {
      sink = await work(inputs[calls % inputs.length] as T);
      calls++;
    } while (calls % 64 !== 0 || cpuMs(started) < RUN_MS);
    best = Math.max(best, (calls / cpuMs(started)) * 1000);
  }
  return best;
};

/** Keeps results alive, so that no call is optimised away. */
export let sink: unknown;

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

const runFor = <T>(milliseconds: number, inputs: readonly T[], work: (input: T) => unknown): number => {
  const started = process.cpuUsage();
  let calls = 0;
  let elapsed = 0;
  do {
    const batch = Math.max(1, Math.min(inputs.length, 1 + calls));
    for (let at = 0; at < batch; at++) sink = work(inputs[(calls + at) % inputs.length] as T);
    calls += batch;
    elapsed = cpuMs(started);
  } while (elapsed < milliseconds);
  return (calls / elapsed) * 1000;
};

/** Returns the median of the milliseconds that the process prints. */
export const printedMs = (script: string, repeat = 15): number =>
  median(
    Array.from({ length: repeat }, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      return Number(stdout);
    }),
  );

/** Returns the medians of whole processes. They alternate, so that other load affects all of them. */
export const processMs = (scripts: readonly string[], repeat = 25): number[] => {
  const times = scripts.map((): number[] => []);
  for (let round = 0; round < repeat; round++) {
    for (const [index, script] of scripts.entries()) {
      const started = performance.now();
      if (spawnSync(process.execPath, [script]).status !== 0) throw new Error(`${script} failed`);
      times[index]?.push(performance.now() - started);
    }
  }
  return times.map(median);
};

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
