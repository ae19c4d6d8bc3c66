import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hint, HintedError } from '../../../contract/hint.ts';
import { parseJson, readMembers } from '../../../contract/unknown-value.ts';
import type { Clock } from '../../platform/clock.ts';

const STOP = { signal: 'SIGTERM', timeoutMs: 5_000 } as const;
const MAX_MESSAGE_LENGTH = 200;

export type ChildSettings = {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the inherited variables. Pass secrets here, because every user of the machine can read arguments. */
  readonly env?: Readonly<Record<string, string>>;
  /** Receives standard output and standard error. It is truncated first, unless `logMode` says otherwise. */
  readonly logFile: string;
  readonly logMode?: 'truncate' | 'append';
  /** The signal that ends the program, and the time until SIGKILL; default SIGTERM and 5 s. */
  readonly stop?: { readonly signal: NodeJS.Signals; readonly timeoutMs: number };
};

/** How a program ended, with the last line of its log; for an rtc command, with the hint of its error. */
export type ChildEnd = { readonly reason: string; readonly hint: Hint | undefined };

export type RunningChild = {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the program ends. */
  readonly ended: Promise<ChildEnd>;
  readonly close: () => Promise<void>;
};

/**
 * Starts a program in its own process group, so that a Ctrl-C in the terminal reaches only this process, which stops its
 * children in order. Signals go to the program alone: it ends its own children.
 */
export function startChild(settings: ChildSettings): RunningChild {
  const log = openSync(settings.logFile, settings.logMode === 'append' ? 'a' : 'w', 0o600);
  const child = spawn(settings.program, settings.args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...inheritVariables(), ...settings.env },
  });
  closeSync(log);
  const ended = describeEnd(child, settings);
  const { signal, timeoutMs } = settings.stop ?? STOP;
  return {
    name: settings.name,
    pid: child.pid ?? 0,
    ended,
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      child.kill(signal);
      const kill = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** `child` is the program that runs now; each restart replaces it. */
export type Restartable = { child: RunningChild; readonly restart: () => RunningChild };

type Supervision = {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly progress: (line: string) => void;
  readonly closing: AbortSignal;
};

/** The pause doubles, because a program that cannot start fails again each time. */
const FIRST_PAUSE_MS = 1_000;

const LONGEST_PAUSE_MS = 60_000;

/** Reports and restarts a program that ends, until `closing`. */
export async function restartWhenEnded(
  one: Restartable,
  { clock, progress, closing }: Supervision,
): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const startedAt = clock.monotonic();
    const { reason } = await one.child.ended;
    if (clock.monotonic() - startedAt > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
    if (!closing.aborted) progress(`${reason}; it is started again in ${pauseMs / 1000} s`);
    await clock.sleep(pauseMs, closing).catch(() => {});
    if (closing.aborted) return;
    one.child = one.restart();
  }
}

/** The variables that any program needs. The others may hold secrets that the program must not see. */
function inheritVariables(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG, LC_ALL, LD_LIBRARY_PATH, SystemRoot } = process.env;
  return { PATH, HOME, TMPDIR, LANG, LC_ALL, LD_LIBRARY_PATH, SystemRoot };
}

/** Returns the end of a child as an error for code that needs the child. */
export function childError({ reason, hint }: ChildEnd): Error {
  return hint === undefined ? new Error(reason) : new HintedError(reason, hint);
}

function describeEnd(child: ChildProcess, { name, logFile }: ChildSettings): Promise<ChildEnd> {
  return new Promise((resolve) => {
    child.once('error', (error) =>
      resolve({ reason: `${name} did not start: ${error.message}`, hint: undefined }),
    );
    child.once('exit', (code, signal) => {
      const { message, hint } = lastMessage(readLog(logFile));
      const how = `${name} ended (${signal ?? `exit code ${code}`})`;
      resolve({ reason: `${how}${message === '' ? '' : `: ${message}`}; its log is ${logFile}`, hint });
    });
  });
}

/** The log may have been removed meanwhile, and the end has to be told nevertheless. */
function readLog(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8');
  } catch {
    return '';
  }
}

type LastMessage = { readonly message: string; readonly hint: Hint | undefined };

/** Reads the last line of the log. An rtc command that runs with --json writes its error there as a problem. */
function lastMessage(log: string): LastMessage {
  const line = log.trimEnd().split('\n').at(-1) ?? '';
  const { detail, next } = parseProblem(line);
  if (typeof detail !== 'string') return { message: short(line), hint: undefined };
  return { message: short(detail), hint: typeof next === 'string' ? { text: short(next) } : undefined };
}

function short(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, MAX_MESSAGE_LENGTH);
}

function parseProblem(line: string): { readonly detail?: unknown; readonly next?: unknown } {
  // It may be a line of text of another program, or of Node itself.
  return readMembers(parseJson(line));
}

const START_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 50;

/** Waits until `isReady` returns true. Throws when the program ends first or is not ready in time. */
export async function waitForReady(child: RunningChild, isReady: () => Promise<boolean>): Promise<void> {
  let end: ChildEnd | undefined;
  void child.ended.then((how) => {
    end = how;
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (end !== undefined) throw childError(end);
    if (await isReady()) return;
    await sleep(POLL_INTERVAL_MS);
  }
  await child.close();
  throw new Error(`${child.name} did not respond within ${START_TIMEOUT_MS / 1000} s.`);
}
