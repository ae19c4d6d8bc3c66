import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** How long a program may take to end after it was asked, before it is killed. */
const END_PATIENCE_MS = 5_000;
const MAX_SAID = 200;

export type ChildSettings = {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Beside what any program needs: where secrets go, since everybody on the machine can read arguments. */
  readonly env?: Readonly<Record<string, string>>;
  /** Gets both outputs; begun anew, or gone on with. */
  readonly logFile: string;
  readonly logMode?: 'anew' | 'append';
};

export type RunningChild = {
  readonly name: string;
  readonly pid: number;
  /** Settles when the program ends; its value says how, with the last line of its log. */
  readonly ended: Promise<string>;
  readonly close: () => Promise<void>;
};

/**
 * Starts a program in a process group of its own: a Ctrl-C in the terminal reaches only us, and we stop what we
 * started in our own order.
 */
export function startChild(settings: ChildSettings): RunningChild {
  const log = openSync(settings.logFile, settings.logMode === 'append' ? 'a' : 'w', 0o600);
  const child = spawn(settings.program, settings.args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...inherited(), ...settings.env },
  });
  closeSync(log);
  const ended = untilEnd(child, settings);
  return {
    name: settings.name,
    pid: child.pid ?? 0,
    ended,
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), END_PATIENCE_MS);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** What any program needs to be found and to run: our environment has secrets that are not its own. */
function inherited(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG, LC_ALL, LD_LIBRARY_PATH, SystemRoot } = process.env;
  return { PATH, HOME, TMPDIR, LANG, LC_ALL, LD_LIBRARY_PATH, SystemRoot };
}

function untilEnd(child: ChildProcess, { name, logFile }: ChildSettings): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`${name} did not start: ${error.message}`));
    child.once('exit', (code, signal) => {
      const { said, advice } = lastWords(readFileSync(logFile, 'utf8'));
      const how = `${name} ended (${signal ?? `exit code ${code}`})`;
      resolve(`${how}${said === '' ? '' : `: ${said}`}; its log is ${logFile}${advice}`);
    });
  });
}

/** The last line; of one of our own commands, its error and, as a sentence, what it says to do next. */
function lastWords(log: string): { readonly said: string; readonly advice: string } {
  const text = log.trimEnd();
  const [, error, next] = /(?:^|\n)Error: ([^\n]+)\n(?:.*\n)*?Next: +([^\n]+)$/.exec(text) ?? [];
  const short = (line: string): string => line.replace(/\s+/g, ' ').slice(0, MAX_SAID);
  if (error === undefined || next === undefined) {
    return { said: short(text.split('\n').at(-1) ?? '').replace(/^Error: /, ''), advice: '' };
  }
  return { said: short(error), advice: `. ${next.charAt(0).toUpperCase()}${short(next.slice(1))}` };
}
