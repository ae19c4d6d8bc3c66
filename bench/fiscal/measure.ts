import { spawnSync } from 'node:child_process';

/** Long enough for the optimising compiler to have settled. */
const WARM_UP_MS = 400;
const RUN_MS = 1000;

/** Calls a second: the best of three runs, since on a shared machine the slower ones measure the neighbours. */
export const perSecond = <T>(inputs: readonly T[], work: (input: T) => unknown): number => {
  runFor(WARM_UP_MS, inputs, work);
  return Math.max(...[1, 2, 3].map(() => runFor(RUN_MS / 3, inputs, work)));
};

/** Keeps results alive, so that no call is optimised away. */
export let sink: unknown;

const runFor = <T>(milliseconds: number, inputs: readonly T[], work: (input: T) => unknown): number => {
  const started = performance.now();
  let calls = 0;
  let elapsed = 0;
  do {
    const batch = Math.max(1, Math.min(inputs.length, 1 + calls));
    for (let at = 0; at < batch; at++) sink = work(inputs[(calls + at) % inputs.length] as T);
    calls += batch;
    elapsed = performance.now() - started;
  } while (elapsed < milliseconds);
  return (calls / elapsed) * 1000;
};

/** Median, in milliseconds, of the whole process, or of the number that it prints. */
export const processMs = (
  args: readonly string[],
  { repeat = 15, printed = false, cwd = '.' } = {},
): number => {
  const times = Array.from({ length: repeat }, () => {
    const started = performance.now();
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
    const elapsed = performance.now() - started;
    if (status !== 0) throw new Error(stderr);
    return printed ? Number(stdout) : elapsed;
  });
  return times.sort((a, b) => a - b)[repeat >> 1] ?? Number.NaN;
};
