import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Runs the command with our output. Resolves to the exit status (1 for a signal). */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<number> {
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });
  const [status] = await once(child, 'close');
  return typeof status === 'number' ? status : 1;
}

/** The result of a command whose output was not printed. */
export interface QuietResult {
  /** The exit status; undefined if the program does not exist, null after a signal. */
  readonly status: number | null | undefined;
  /** Standard output and standard error, in the order in which they arrived. */
  readonly output: string;
}

/** Runs the command without printing anything. */
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
