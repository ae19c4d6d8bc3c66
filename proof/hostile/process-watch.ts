import { readdir, readFile } from 'node:fs/promises';

/** The arguments and titles of every process that a run has started, also of those that have ended. */
export type ProcessWatch = {
  /** Returns the arguments and the title of each process that was seen. */
  readonly seen: () => readonly Buffer[];
  readonly close: () => void;
};

const SAMPLE_MS = 100;

/** Reads the arguments of all descendants of this process ten times a second. It may miss a process that ends sooner. */
export function watchProcesses(): ProcessWatch {
  const seen = new Map<string, Buffer>();
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    for (const pid of await descendantsOf(process.pid)) {
      const [words, title] = await Promise.all([readOf(pid, 'cmdline'), readOf(pid, 'comm')]);
      const both = Buffer.concat([words, Buffer.from('\n'), title]);
      seen.set(`${pid} ${both.toString('latin1')}`, both);
    }
    isLooking = false;
  };
  const timer = setInterval(() => void look(), SAMPLE_MS);
  return { seen: () => [...seen.values()], close: () => clearInterval(timer) };
}

async function descendantsOf(root: number): Promise<readonly number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = new Map<number, number>();
  await Promise.all(
    names.map(async (name) => {
      const stat = (await readOf(Number(name), 'stat')).toString('latin1');
      // The name of the program is in brackets and may contain anything.
      const parent = /^ \S (\d+)/.exec(stat.slice(stat.lastIndexOf(')') + 1))?.[1];
      if (parent !== undefined) parents.set(Number(name), Number(parent));
    }),
  );
  const isDescendant = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === root || isDescendant(parent));
  };
  return [...parents.keys()].filter(isDescendant);
}

/** Returns an empty buffer if the process has ended. */
async function readOf(pid: number, file: string): Promise<Buffer> {
  return await readFile(`/proc/${pid}/${file}`).catch(() => Buffer.alloc(0));
}
