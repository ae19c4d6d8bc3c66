import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('claim-process.ts', import.meta.url));

export interface Claimer {
  claim(order: { readonly rooms: readonly string[]; readonly endEach: boolean }): Promise<Claimed>;
  /** Kills the process, which cannot close anything. */
  kill(): Promise<void>;
}

export interface Claimed {
  readonly got: readonly string[];
  readonly errors: readonly string[];
}

/** Starts an instance on the SQLite file in its own process. Resolves when it has opened the store. */
export async function startClaimer(path: string, name: string): Promise<Claimer> {
  const child = spawn(process.execPath, [program, path, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const line = await lines.next();
    if (line.done) throw new Error(`the process ended early (${child.exitCode})`);
    return line.value;
  };
  await next();
  return {
    claim: async (order) => {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      return JSON.parse(await next()) as Claimed;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
