import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { sampleProcess } from '../../prove/load/process-figures.ts';

/** Resolves to the processor time of these processes so far, with all their threads, in milliseconds (Linux). */
export async function runMsOf(pids: readonly number[]): Promise<number> {
  const samples = await Promise.all(pids.map((pid) => sampleProcess(pid).catch(() => ({ runMs: 0 }))));
  return samples.reduce((sum, { runMs }) => sum + runMs, 0);
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
