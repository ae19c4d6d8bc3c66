import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Runs the command with its output going where ours goes; returns the exit status (1 for a signal). */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<number> {
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });
  const [status] = await once(child, 'close');
  return typeof status === 'number' ? status : 1;
}

/** What a command did whose output was kept from the terminal. */
export interface QuietResult {
  /** The exit status; undefined when the program is not there, null after a signal. */
  readonly status: number | null | undefined;
  /** Standard output and standard error, as they came. */
  readonly output: string;
}

/** Runs the command with nothing on the terminal. */
export async function runQuietly(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<QuietResult> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const closed = once(child, 'close').catch(() => [undefined]);
  const [status] = (await closed) as [number | null | undefined];
  return { status, output };
}
