import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** Time between SIGTERM and SIGKILL. */
const END_TIMEOUT_MS = 5_000;
const MAX_MESSAGE_LENGTH = 200;

export type ChildSettings = {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the inherited variables. Pass secrets here, because every user of the machine can read arguments. */
  readonly env?: Readonly<Record<string, string>>;
  /** Receives standard output and standard error. `logMode` truncates it or appends to it. */
  readonly logFile: string;
  readonly logMode?: 'truncate' | 'append';
};

export type RunningChild = {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the program ends, to a message that says how, with the last line of its log. */
  readonly ended: Promise<string>;
  readonly close: () => Promise<void>;
};

/**
 * Starts a program in its own process group. A Ctrl-C in the terminal therefore reaches only this process, which
 * stops its children in order.
 */
export function startChild(settings: ChildSettings): RunningChild {
  const log = openSync(settings.logFile, settings.logMode === 'append' ? 'a' : 'w', 0o600);
  const child = spawn(settings.program, settings.args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...inherited(), ...settings.env },
  });
  closeSync(log);
  const ended = describeEnd(child, settings);
  return {
    name: settings.name,
    pid: child.pid ?? 0,
    ended,
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** The variables that any program needs. The others may hold secrets that the program must not see. */
function inherited(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG, LC_ALL, LD_LIBRARY_PATH, SystemRoot } = process.env;
  return { PATH, HOME, TMPDIR, LANG, LC_ALL, LD_LIBRARY_PATH, SystemRoot };
}

function describeEnd(child: ChildProcess, { name, logFile }: ChildSettings): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`${name} did not start: ${error.message}`));
    child.once('exit', (code, signal) => {
      const { message, advice } = lastMessage(readFileSync(logFile, 'utf8'));
      const how = `${name} ended (${signal ?? `exit code ${code}`})`;
      resolve(`${how}${message === '' ? '' : `: ${message}`}; its log is ${logFile}${advice}`);
    });
  });
}

/** Returns the last line of the log. For an rtc command it returns the error, and its advice as a sentence. */
function lastMessage(log: string): { readonly message: string; readonly advice: string } {
  const text = log.trimEnd();
  const [, error, next] = /(?:^|\n)Error: ([^\n]+)\n(?:.*\n)*?Next: +([^\n]+)$/.exec(text) ?? [];
  const short = (line: string): string => line.replace(/\s+/g, ' ').slice(0, MAX_MESSAGE_LENGTH);
  if (error === undefined || next === undefined) {
    return { message: short(text.split('\n').at(-1) ?? '').replace(/^Error: /, ''), advice: '' };
  }
  return { message: short(error), advice: `. ${next.charAt(0).toUpperCase()}${short(next.slice(1))}` };
}
