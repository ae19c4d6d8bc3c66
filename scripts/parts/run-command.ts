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

/** Runs the command and returns what it printed, or undefined when it is not there or fails. */
export async function commandOutput(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string | undefined> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], ...options });
  const started = once(child, 'spawn').then(
    () => true,
    () => false,
  );
  if (!(await started)) return undefined;
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [status] = await once(child, 'close');
  return status === 0 ? output : undefined;
}
