import { readdir, readFile } from 'node:fs/promises';
import { atMost, type Figures, observed } from '../figures.ts';
import { mean, round, sum } from './statistics.ts';

/** A sample of a process (Linux). */
export type Sample = {
  readonly at: number;
  readonly residentMb: number;
  readonly descriptors: number;
  /** Processor time of all its threads so far. */
  readonly runMs: number;
};

export async function sampleProcess(pid: number): Promise<Sample> {
  const [status, descriptors, tasks] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readdir(`/proc/${pid}/fd`),
    readdir(`/proc/${pid}/task`),
  ]);
  const times = await Promise.all(tasks.map((task) => runNs(`/proc/${pid}/task/${task}/schedstat`)));
  return {
    at: performance.now(),
    residentMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    descriptors: descriptors.length,
    runMs: sum(times) / 1e6,
  };
}

/** Returns the highest resident memory of a process, which the kernel keeps; 0 if the process has ended. */
export async function readPeak(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** A thread may end between the listing and the reading. */
async function runNs(path: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch(() => '0');
  return Number(text.split(' ')[0]);
}

/** Returns the share of one core that the process used between the samples. */
export function coreShare(before: Sample, after: Sample): number {
  return (after.runMs - before.runMs) / (after.at - before.at);
}

/** Growth of resident memory between the middle and the end of the load. The garbage collector alone causes this much. */
const MAX_GROWTH_MB = 15;

const RESIDENT = {
  name: 'growth of resident memory',
  read: ({ residentMb }: Sample) => residentMb,
  boundMb: MAX_GROWTH_MB,
};

/** Compares the last fifth of the samples with the middle one. As many descriptors come and go as there are callers. */
export function growthFigures<S extends Sample>(
  samples: readonly S[],
  callers: number,
  memory: {
    readonly name: string;
    readonly read: (sample: S) => number;
    readonly boundMb: number;
  } = RESIDENT,
): Figures {
  const fifth = (number: number): readonly S[] =>
    samples.slice(Math.floor((samples.length * number) / 5), Math.floor((samples.length * (number + 1)) / 5));
  const growth = (read: (sample: S) => number): number => mean(fifth(4).map(read)) - mean(fifth(2).map(read));
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) throw new Error('no sample was taken');
  return [
    observed('resident memory at the end', Math.round(last.residentMb), ' MB'),
    atMost({
      name: memory.name,
      measured: round(growth(memory.read)),
      bound: memory.boundMb,
      unit: ' MB',
    }),
    observed('descriptors at the end', last.descriptors),
    atMost({
      name: 'growth of descriptors',
      measured: round(growth((sample) => sample.descriptors)),
      bound: callers,
    }),
    observed('processor time', round(100 * coreShare(first, last)), ' % of a core'),
  ];
}
