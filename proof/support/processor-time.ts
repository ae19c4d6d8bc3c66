import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { sampleProcess } from './process-figures.ts';

/** The processor time of each process so far, with all its threads, in milliseconds. */
export type RunTimes = ReadonlyMap<number, number>;

/** Reads them from Linux. A process that has ended is left out. */
export async function runTimesOf(pids: readonly number[]): Promise<RunTimes> {
  const read = async (pid: number): Promise<readonly [number, number][]> =>
    sampleProcess(pid).then(
      ({ runMs }) => [[pid, runMs]],
      () => [],
    );
  return new Map((await Promise.all(pids.map(read))).flat());
}

/** Returns what the processes that are still there took in between. */
export function runMsBetween(before: RunTimes, after: RunTimes): number {
  return [...after].reduce((sum, [pid, runMs]) => sum + runMs - (before.get(pid) ?? 0), 0);
}

/** Resolves to the ids of a local PostgreSQL server's processes: one for each connection, and its own. */
export async function serverProcesses(url: string): Promise<readonly number[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = await parentOf(`${rows[0]?.pid}`);
  await client.end();
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(names.map((name) => parentOf(name).catch(() => '')));
  return names.filter((name, index) => name === postmaster || parents[index] === postmaster).map(Number);
}

async function parentOf(pid: string): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The program's name is in parentheses and may contain spaces.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '';
}
