import { readdir, readFile } from 'node:fs/promises';

export type GroupProcess = { readonly pid: number; readonly name: string };

/** Returns the processes of a group (Linux). */
export async function listProcesses(groupId: number): Promise<readonly GroupProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => readProcess(pid).catch(() => undefined)));
  return found.flatMap((one) => (one?.groupId === groupId ? [one] : []));
}

async function readProcess(pid: string): Promise<GroupProcess & { readonly groupId: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name is in parentheses, and may contain parentheses itself. State, parent and group follow.
  const end = text.lastIndexOf(')');
  const [, , group] = text.slice(end + 2).split(' ');
  return { pid: Number(pid), name: text.slice(text.indexOf('(') + 1, end), groupId: Number(group) };
}
