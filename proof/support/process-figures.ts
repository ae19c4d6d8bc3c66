import { readdir, readFile } from 'node:fs/promises';
import { sum } from './statistics.ts';

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
