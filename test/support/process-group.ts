import { readdir, readFile } from 'node:fs/promises';

export type RunningProcess = {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  readonly groupId: number;
};

/** Returns the processes of a group (Linux). */
export async function listProcesses(groupId: number): Promise<readonly RunningProcess[]> {
  return (await readProcesses()).filter((one) => one.groupId === groupId);
}

/** Returns everything that a process has started and that runs (Linux). */
export async function listDescendants(pid: number): Promise<readonly RunningProcess[]> {
  const byParent = Map.groupBy(await readProcesses(), ({ parent }) => parent);
  const list = (parent: number): readonly RunningProcess[] =>
    (byParent.get(parent) ?? []).flatMap((child) => [child, ...list(child.pid)]);
  return list(pid);
}

/** Returns all processes. */
async function readProcesses(): Promise<readonly RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(pids.map((pid) => readProcess(Number(pid))))).filter((one) => one !== undefined);
}

/** Resolves to undefined if the process has ended. */
export async function readProcess(pid: number): Promise<RunningProcess | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  // The name is in parentheses, and may contain parentheses itself. State, parent and group follow.
  const end = text.lastIndexOf(')');
  const [, parent, group] = text.slice(end + 2).split(' ');
  return {
    ...{ pid, name: text.slice(text.indexOf('(') + 1, end) },
    ...{ parent: Number(parent), groupId: Number(group) },
  };
}
