import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type Program = { readonly url: string; readonly pid: number; readonly stop: () => void };

export type ProgramStart = {
  readonly args: readonly string[];
  /** The stream on which it prints its address. */
  readonly output: 'stdout' | 'stderr';
  readonly environment: Readonly<Record<string, string>>;
};

/** Starts one of our programs with Node and waits for the line with its address. */
export async function startProgram({ args, output, environment }: ProgramStart): Promise<Program> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', output === 'stdout' ? 'pipe' : 'ignore', output === 'stderr' ? 'pipe' : 'inherit'],
    env: { ...process.env, ...environment },
  });
  const stream = child[output];
  if (stream === null || child.pid === undefined) throw new Error('the program has no output');
  const url = await new Promise<string>((resolve, reject) => {
    const lines = createInterface({ input: stream }).on('line', (line) => {
      const found = /http:\/\/[\w.:]+/.exec(line);
      if (found === null) return;
      resolve(found[0]);
      // The log continues. Reading it line by line would take time from the process that sends the requests.
      lines.close();
      stream.resume();
    });
    void once(child, 'exit').then(() => reject(new Error('the program ended before it listened')));
  });
  return { url, pid: child.pid, stop: () => child.kill() };
}
